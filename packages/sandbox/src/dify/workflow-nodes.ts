import type { DifyRun } from './script.ts'

export const NODE_ERROR = '[openai] Bad Request Error, 400'

export type Status = 'succeeded' | 'failed' | 'stopped'

export interface Place {
  readonly node_id: string
  readonly node_type: string
  readonly title: string
  readonly index: number
  readonly predecessor_node_id: string | null
}

export const START: Place = {
  node_id: '1711528914102',
  node_type: 'start',
  title: '开始',
  index: 1,
  predecessor_node_id: null,
}
export const LLM: Place = {
  node_id: 'llm',
  node_type: 'llm',
  title: 'LLM',
  index: 2,
  predecessor_node_id: START.node_id,
}

const UNNESTED = {
  parallel_id: null,
  parallel_start_node_id: null,
  parent_parallel_id: null,
  parent_parallel_start_node_id: null,
  iteration_id: null,
  loop_id: null,
}

export function node({ createdAt }: DifyRun, place: Place) {
  return {
    id: `ne-${place.node_id}`,
    ...place,
    inputs: null,
    inputs_truncated: false,
    created_at: createdAt,
    extras: {},
    ...UNNESTED,
    parallel_run_id: null,
    agent_strategy: null,
  }
}

export function finishedNode(
  { createdAt }: DifyRun,
  place: Place,
  status: Status,
  outputs: object,
  totalTokens?: number,
) {
  const failed = status === 'failed'
  return {
    id: `ne-${place.node_id}`,
    ...place,
    inputs: {},
    inputs_truncated: false,
    process_data: null,
    process_data_truncated: false,
    outputs: failed ? null : outputs,
    outputs_truncated: false,
    status,
    error: failed ? NODE_ERROR : null,
    elapsed_time: 0.52,
    execution_metadata:
      failed || totalTokens === undefined
        ? null
        : { total_tokens: totalTokens, total_price: '0.0000530', currency: 'USD' },
    created_at: createdAt,
    finished_at: createdAt + 1,
    files: [],
    ...UNNESTED,
  }
}
