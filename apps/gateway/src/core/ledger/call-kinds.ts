import type { Permission } from '#core/requests/principal.ts'

/** Kinds of calls, each named after the permission that it requires. */
export const CALL_KINDS = ['chat', 'upload'] as const satisfies Permission[]
export type CallKind = (typeof CALL_KINDS)[number]
export const CALL_FACES = ['rest', 'openai', 'graphql', 'responses'] as const
export type CallFace = (typeof CALL_FACES)[number]
export const OUTCOMES = [
  'done',
  'client_gone',
  'upstream_error',
  'timeout',
  'drained',
  'interrupted',
  'rejected',
] as const
export type CallOutcome = (typeof OUTCOMES)[number]

/** The outcomes that count as failures, of a platform or of the gateway. */
export const FAILED_OUTCOMES = [
  'upstream_error',
  'timeout',
  'drained',
  'interrupted',
] as const satisfies CallOutcome[]
