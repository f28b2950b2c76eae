import type { JsonRecord } from '@trunkline/sandbox/src/serving/narrow.ts'

/** What the model is to say: all, one half of it, or a plan. */
export type ModelPart = 'answer' | 'first half' | 'second half' | 'plan'

/** What the model gets in the `metadata` of a request. */
export interface ModelMetadata {
  readonly run: string
  readonly part: ModelPart
  readonly answers: readonly unknown[]
  readonly variables: JsonRecord
}
