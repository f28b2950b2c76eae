import { ERRORS, type ErrorReason, Problem } from '#core/base/errors/errors.ts'
import { joinPath } from '#core/base/values/field-path.ts'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'
import type { KeptProblem } from './kept-call.ts'

/** A problem in the form in which it is stored. What it says of fields keeps them apart, since each face has its names for them. */
export function keptProblem(problem: Problem, { isFinal }: { readonly isFinal: boolean }): KeptProblem {
  const { reason, message, detail, retryAfterSeconds, mistakes } = problem
  return {
    ...omitUndefined({ reason, detail: detail === message ? undefined : detail, retryAfterSeconds }),
    ...(mistakes.length > 0 && {
      mistakes: mistakes.map(({ field, text }) => ({
        field: [...field],
        text: typeof text === 'string' ? text : text(joinPath),
      })),
    }),
    ...(isFinal && { isFinal }),
  }
}

/** The problem of a kept reply, as a reader gets it. Its reason may be one that only another version of the gateway knows. */
export function problemOfKept(kept: KeptProblem): Problem {
  const { retryAfterSeconds, isFinal, mistakes = [] } = kept
  const reason: ErrorReason = Object.hasOwn(ERRORS, kept.reason) ? kept.reason : 'internal_error'
  const [first, ...others] = mistakes
  return new Problem(reason, {
    detail: first === undefined ? kept.detail : first.text,
    field: first?.field,
    others,
    retryAfterSeconds,
    isFinal,
  })
}
