import type { FastifyInstance, FastifyRequest } from 'fastify'
import { KEY_PREFIX_LENGTH } from '#core/accounts/keys/key-format.ts'
import type { RefusedOperations } from '#core/audit/refused-operations.ts'
import { ClientGone } from '#core/base/errors/client-gone.ts'
import type { ErrorReason, Problem, RefusedRequester } from '#core/base/errors/errors.ts'
import type { CallFace } from '#core/ledger/call-kinds.ts'
import type { RefusalRecorder } from '#core/refusals/refusal-recorder.ts'
import type { Principal } from '#core/requests/principal.ts'

export interface Refusals extends Pick<RefusalRecorder, 'record' | 'identify'> {
  /** For the audit log. */
  readonly recordOperation: RefusedOperations['record']
  readonly recordCredential: RefusedOperations['recordCredential']
}

/** For the operations server, which has no authenticated callers. */
const NO_REFUSALS: Refusals = {
  record: () => undefined,
  identify: () => undefined,
  recordOperation: () => undefined,
  recordCredential: () => undefined,
}

/** Must be called before the routes are added. */
export function installRefusals(app: FastifyInstance, refusals: Refusals = NO_REFUSALS): void {
  app.decorate('refusals', refusals)
}

/** What a face knows of a refusal beside its problem. */
export interface RefusalDetails {
  /** The input at fault, as the face names it. */
  readonly field?: string | undefined
  /** Whose credential the request had, where the request does not have it itself. */
  readonly caller?: Principal | undefined
  /** The requested operation, where the template of the path does not name it: the root field of a GraphQL operation. */
  readonly operation?: string | undefined
}

/**
 * Records that a request is answered with a problem, once for each request; every face calls this where it answers. The failure of
 * an admitted call is not a refusal: it has a row in the ledger, also if it is replayed. Code that refuses a request of a known
 * caller before it becomes a call notes the owner in the problem. So a refusal of the second chat of a GraphQL operation is not
 * taken for a failure of the first.
 */
export function recordRefusal(
  request: FastifyRequest,
  problem: Problem,
  { field, caller = request.principal, operation }: RefusalDetails = {},
): void {
  const { refused } = problem
  if (request.refusedBy !== undefined || problem instanceof ClientGone) return
  if (request.callId !== undefined && refused.ownerId === undefined) return
  const agent = refused.agent ?? agentOf(request)
  const requester = { ...requesterOf(request, refused, caller), agent }
  request.problem = problem
  request.refusedBy = requester
  const template = request.routeOptions.url ?? 'unknown'
  const route = operation ?? template
  const { record, recordOperation, recordCredential } = request.server.refusals
  // Of a key that is not known, nothing that a stranger chooses is recorded.
  const keyPrefix = requester.keyId === undefined ? '' : keyOf(request)?.slice(0, KEY_PREFIX_LENGTH)
  record({ requestId: request.id, face: faceOf(request), route, requester, keyPrefix, field, problem })
  const refusal = { operation: operation ?? `${request.method} ${template}`, reason: problem.reason }
  // What is refused as a call names its owner, and is no operation of the management.
  if (caller !== undefined && refused.ownerId === undefined && IS_FORBIDDEN.has(problem.reason))
    recordOperation({ caller, ...refusal })
  if (requester.ownerId === undefined && IS_UNKNOWN.has(problem.reason))
    recordCredential({ from: { address: request.ip, requestId: request.id }, ...refusal })
}

/** The reasons for refusing a credential of which the gateway may not know whose it is. */
const IS_UNKNOWN: ReadonlySet<string> = new Set<ErrorReason>([
  'credential_malformed',
  'key_unknown',
  'token_invalid',
])

/** The reasons for refusing an operation to an authenticated caller. */
const IS_FORBIDDEN: ReadonlySet<string> = new Set<ErrorReason>([
  'permission_denied',
  'role_denied',
  'access_token_required',
])

function requesterOf(
  request: FastifyRequest,
  refused: RefusedRequester,
  caller: Principal | undefined,
): RefusedRequester {
  if (refused.ownerId !== undefined) return refused
  if (caller !== undefined) {
    return { ownerId: caller.userId, ...(caller.via.kind === 'key' && { keyId: caller.via.keyId }) }
  }
  const key = keyOf(request)
  return (key === undefined ? undefined : request.server.refusals.identify(key)) ?? {}
}

/** An API key, by its form. */
const KEY = /^bearer +(tl_\w{1,100})$/i

function keyOf({ headers }: FastifyRequest): string | undefined {
  return KEY.exec(headers.authorization ?? '')?.[1]
}

/** The agent as the request names it, while that can still be read. */
function agentOf({ headers, body, routeOptions }: FastifyRequest): string | undefined {
  if (typeof headers.agent === 'string') return headers.agent
  const { model } = (routeOptions.config?.errors === 'openai' && (body as { model?: unknown } | null)) || {}
  return typeof model === 'string' ? model : undefined
}

function faceOf({ routeOptions: { config, url = '' } }: FastifyRequest): CallFace {
  return config?.face ?? (url.startsWith('/graphql') ? 'graphql' : 'rest')
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The default is that of the path. */
    face?: CallFace
  }

  interface FastifyInstance {
    refusals: Refusals
  }

  interface FastifyRequest {
    /** Whose request was refused, as far as is known; undefined if it was not refused. */
    refusedBy: RefusedRequester | undefined
  }
}
