import type { FastifyError, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { RequestOrigin } from '#core/accounts/auth/authenticate.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { type ErrorReason, fail } from '#core/base/errors/errors.ts'
import { type Principal, requireKey, requireManager, requireToken } from '#core/requests/principal.ts'
import type { Services } from '#core/services/services.ts'
import { endUserReader } from '../request/end-user.ts'
import { isRepeated } from '../request/request-headers.ts'
import { toProblem } from '../response/problem.ts'

/**
 * The services decide what a caller may do. These hooks apply the same functions earlier, so that a caller that will be
 * refused is refused before its body is read. The list beside each hook holds the reasons with which it can fail, for the
 * schema of the route.
 */
type CredentialHook = (request: FastifyRequest) => Promise<void>

type Authenticating = Pick<Services, 'authentication'>

const CREDENTIAL_PROBLEMS = [
  // The header that names the end user.
  'invalid_request',
  'credential_missing',
  'credential_malformed',
  'key_unknown',
  'key_expired',
  'key_revoked',
  'key_rotated',
  'key_paused',
  'address_denied',
  'owner_suspended',
  'token_invalid',
  'token_expired',
  'token_revoked',
  'rate_limited',
  'unavailable',
] as const satisfies ErrorReason[]

/**
 * The caller that the route's hook has authenticated.
 *
 * @throws Problem `credential_missing` if there is none, so a route whose hook is forgotten refuses every request
 */
export function callerOf(request: FastifyRequest): Principal {
  return request.principal ?? fail('credential_missing')
}

/** Accepts an access token, or an API key with the permission `admin`, which acts for its owner. */
export function managerOnly(services: Authenticating): CredentialHook {
  return only(services, requireManager)
}

export const MANAGER_PROBLEMS = [...CREDENTIAL_PROBLEMS, 'permission_denied'] as const satisfies ErrorReason[]

export function tokenOnly(services: Authenticating): CredentialHook {
  return only(services, requireToken)
}

export const TOKEN_PROBLEMS = [
  ...CREDENTIAL_PROBLEMS,
  'access_token_required',
] as const satisfies ErrorReason[]

/** Accepts any valid API key, whatever its permissions. */
export function keyOnly(services: Authenticating): CredentialHook {
  return only(services, requireKey)
}

export const KEY_PROBLEMS = [...CREDENTIAL_PROBLEMS, 'api_key_required'] as const satisfies ErrorReason[]

/** Accepts any valid credential; the service decides how much the caller sees. */
export function anyCredential(services: Authenticating): CredentialHook {
  return only(services, () => undefined)
}

export const ANY_PROBLEMS = CREDENTIAL_PROBLEMS

function only(services: Authenticating, require: (caller: Principal) => unknown): CredentialHook {
  return async (request) => {
    // First, so that a refusal is on record as this caller's.
    await knowCaller(services, request)
    require(callerOf(request))
  }
}

/** Anonymous callers are allowed, but a credential that is sent must be valid. */
export function optionalPrincipal(services: Authenticating): CredentialHook {
  return async (request) => {
    if (request.headers.authorization !== undefined) await knowCaller(services, request)
  }
}

/**
 * Checks only the form of an API key, unless its address is suspect as in {@link lookUpSuspects}. The key itself is checked by the
 * statement that admits and counts the call, which saves a query for every chat.
 */
export function requireChatKey(services: Authenticating): onRequestHookHandler {
  const { authentication } = services
  return (request, _reply, done) => {
    const { ip } = request
    const key = bearerOf(request)
    request.apiKey = key
    const refusing = markRejectionHandled(authentication.requireKeyFormat(key, ip))
    if (refusing !== undefined) refusing.catch(done)
    else if (!authentication.isSuspect(key, ip)) done()
    else knowCaller(services, request).then(() => done(), done)
  }
}

/**
 * Looks up API keys from addresses that have sent too many which are not valid, so that the body of a request with another such key
 * stays unread. For routes that would otherwise read the body first.
 */
export function lookUpSuspects(services: Authenticating): onRequestHookHandler {
  return (request, _reply, done) => {
    const credential = request.headers.authorization?.split(' ').at(-1) ?? ''
    if (!services.authentication.isSuspect(credential, request.ip)) done()
    else knowCaller(services, request).then(() => done(), done)
  }
}

/**
 * An error handler for routes behind {@link requireChatKey}, whose key is checked only when the call is admitted. Before a
 * response that says what is wrong with the request it checks the key, so that only callers with a valid key learn anything.
 * Requests without an error pay nothing for it.
 */
export function judgeKeyFirst(
  services: Authenticating,
): (error: FastifyError, request: FastifyRequest) => Promise<never> {
  return async (error, request) => {
    const isAboutRequest = ABOUT_THE_REQUEST.has(toProblem(error).status)
    if (isAboutRequest && request.apiKey !== '' && !request.isKeyJudgedByCall)
      await knowCaller(services, request)
    // Fastify passes it on to the error handler of all routes.
    throw error
  }
}

const ABOUT_THE_REQUEST: ReadonlySet<number> = new Set([400, 404, 413, 415])

/**
 * Looks up the credential of a request, unless its caller is known. The caller is bound to the end user that the request names.
 *
 * @throws Problem with status 401, `rate_limited`, `unavailable`
 */
export async function knowCaller({ authentication }: Authenticating, request: FastifyRequest): Promise<void> {
  request.principal ??= await authentication.authenticate(
    bearerOf(request),
    originOf(request),
    endUserReader(request, authentication),
  )
}

/** Where a request came from, for limits of addresses and for the audit log. */
export function originOf({ ip, id }: Pick<FastifyRequest, 'ip' | 'id'>): RequestOrigin {
  return { address: ip, requestId: id }
}

const BEARER = /^bearer +([\x21-\x7e]{1,4096})$/i

/**
 * The credential of a request.
 *
 * @throws Problem `credential_missing` or `credential_malformed`
 */
export function bearerOf({ raw }: FastifyRequest): string {
  const { authorization } = raw.headers
  if (authorization === undefined)
    fail('credential_missing', 'authorization: expected Bearer and a credential.')
  // A proxy in front may have checked another one.
  if (isRepeated(raw, 'authorization'))
    fail('credential_malformed', 'authorization: was sent more than once.')
  const credential = BEARER.exec(authorization)?.[1]
  return credential ?? fail('credential_malformed', 'authorization: expected Bearer and a credential.')
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the credential has been looked up, see {@link knowCaller}. */
    principal: Principal | undefined
    /** Set by {@link requireChatKey}. */
    apiKey: string
    /** Set once the chat service has taken over the check of the key. */
    isKeyJudgedByCall: boolean
  }
}
