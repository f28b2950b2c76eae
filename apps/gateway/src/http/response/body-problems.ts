import type { ErrorReason } from '#core/base/errors/errors.ts'

/** The reasons for which a route that reads a body, even an optional one, can refuse it. */
export const BODY_PROBLEMS = [
  'invalid_request',
  'invalid_json',
  'body_too_large',
  'unsupported_media_type',
] as const satisfies ErrorReason[]
