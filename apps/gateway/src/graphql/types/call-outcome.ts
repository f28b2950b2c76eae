import { CALL_OUTCOME, CALL_STATE } from '#resources/call-words.ts'
import { vocabularyEnum } from '../enum-of.ts'

export const CallOutcome = vocabularyEnum(CALL_OUTCOME)
export const CallState = vocabularyEnum(CALL_STATE)
