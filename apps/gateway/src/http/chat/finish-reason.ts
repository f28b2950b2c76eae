import { FINISH_REASONS } from '#http/descriptions/chat-descriptions.ts'
import { oneOf } from '#http/response/schemas.ts'

const MEANINGS = Object.entries(FINISH_REASONS).map(([word, meaning]) => `\`${word}\`: ${meaning}`)

export const FinishReasonSchema = oneOf(
  Object.keys(FINISH_REASONS) as (keyof typeof FINISH_REASONS)[],
  `Why the reply ended. ${MEANINGS.join(' ')}`,
)
