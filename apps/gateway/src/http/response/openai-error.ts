import type { Problem } from '#core/base/errors/errors.ts'
import type { DescribedProblem } from '../request/field-place.ts'

/** OpenAI's form of an error, which its clients also read from a stream. `code` is our reason, `type` OpenAI's class. */
export interface OpenAiError {
  readonly message: string
  readonly type: string
  readonly code: string
  /** The field that is not valid; null if the error is about no field. */
  readonly param: string | null
}

/** Omit the second argument for an error in a stream: the request was accepted then, so no field is at fault. */
export function openAiError(
  problem: Problem,
  { detail, param }: DescribedProblem = { detail: problem.detail, param: null },
): { error: OpenAiError } {
  return {
    error: {
      message: messageOf(problem, detail),
      type: openAiTypeOf(problem),
      code: problem.reason,
      param,
    },
  }
}

/** Clients show this text alone. Where the detail does not say what happened, the text of the reason precedes it. */
function messageOf({ reason, message }: Problem, detail: string): string {
  return reason === 'quota_exceeded' && detail !== message ? `${message} ${detail}` : detail
}

/** OpenAI's class of an error. */
export function openAiTypeOf({ status, reason }: { status: number; reason: string }): string {
  if (reason === 'quota_exceeded') return 'insufficient_quota'
  switch (status) {
    case 401:
      return 'authentication_error'
    case 403:
      return 'permission_error'
    case 404:
      return 'not_found_error'
    case 429:
      return 'rate_limit_error'
    default:
      return status < 500 ? 'invalid_request_error' : 'server_error'
  }
}
