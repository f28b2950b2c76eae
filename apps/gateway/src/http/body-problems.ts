import type { ErrorReason } from '#core/errors.ts'

/** How every route that reads a body, even one it needs not, can refuse it. */
export const BODY_PROBLEMS = [
  'invalid_request',
  'invalid_json',
  'body_too_large',
  'unsupported_media_type',
] as const satisfies ErrorReason[]
