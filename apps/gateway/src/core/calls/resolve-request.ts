import type { Authentication, RequestOrigin } from '#core/accounts/auth/authenticate.ts'
import type { AgentCatalog } from '#core/agents/catalog.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { problemOf } from '#core/base/errors/problem-of.ts'
import type { Sql } from '#core/database/database.ts'
import { type Principal, requireKey } from '#core/requests/principal.ts'
import type { IssuedFiles } from '#core/uploads/issued-files.ts'
import { earlierTurns } from './conversation/earlier-turns.ts'
import { nameOf } from './conversation/enter-conversation.ts'
import { checkCall, resolveCall, type UnroutedCall } from './request/call.ts'
import type { ChatRequest } from './request/chat-request.ts'

export interface ResolveDeps {
  readonly catalog: Pick<AgentCatalog, 'current'>
  readonly authentication: Pick<Authentication, 'authenticate' | 'boundEndUser' | 'endUserHeader'>
  readonly files: Pick<IssuedFiles, 'isIssued'>
  readonly sql: Pick<Sql, 'query'>
}

/**
 * The call that a request makes, which is not admitted yet.
 *
 * @throws Problem those of {@link resolveCall}, or of the key
 */
export async function resolveRequest(deps: ResolveDeps, request: ChatRequest): Promise<UnroutedCall> {
  const { catalog, authentication, files } = deps
  try {
    const call =
      authentication.endUserHeader === undefined
        ? resolveCall(catalog.current(), request, files.isIssued)
        : await resolveBound(deps, request)
    const isNamedAnew =
      isLastOfMany(call) && call.conversation.kind === 'named' && request.answer === undefined
    return isNamedAnew ? await withHistory(deps, request, call, call.conversation.id) : call
  } catch (error) {
    throw await refusalOf(deps, request, error)
  }
}

/** Whether the request has messages that are no part of the call, since the agent remembers the conversation. */
export function isLastOfMany({ asks }: UnroutedCall): boolean {
  return asks.kind === 'question' && asks.isLastOfMany
}

/** Who makes a request whose call does not wait for the admission to be known. */
export function callerOf(
  { authentication }: Pick<ResolveDeps, 'authentication'>,
  request: ChatRequest,
): Promise<Principal> {
  return authentication.authenticate(request.credential, originOf(request), request.readEndUser)
}

/** Resolves a call of the end user to whom its request is bound, if it is bound to one, whatever it says itself. */
async function resolveBound(
  { authentication, catalog, files }: ResolveDeps,
  request: ChatRequest,
): Promise<UnroutedCall> {
  const { credential, readEndUser } = request
  const boundTo = await authentication.boundEndUser(credential, originOf(request), readEndUser)
  if (boundTo === undefined) return resolveCall(catalog.current(), request, files.isIssued)
  const call = resolveCall(catalog.current(), { ...request, endUser: boundTo }, files.isIssued)
  return { ...call, boundTo }
}

/** The call with all messages of its request, if its conversation has a name and no turn yet: clients may bring a history. */
async function withHistory(
  deps: ResolveDeps,
  request: ChatRequest,
  call: UnroutedCall,
  conversationId: string,
): Promise<UnroutedCall> {
  const caller = await callerOf(deps, request)
  const name = nameOf(call, caller.userId, conversationId)
  if ((await earlierTurns(deps.sql, name)) !== 'none') return call
  const { endUser, boundTo } = call
  const whole = resolveCall(deps.catalog.current(), { ...request, endUser }, deps.files.isIssued, [], true)
  return { ...whole, ...(boundTo !== undefined && { boundTo }) }
}

/**
 * The error to return for a call that could not be resolved. The key is checked first, so that callers without a valid one
 * learn nothing about the agents, and the message names only what that key may use.
 */
async function refusalOf(deps: ResolveDeps, request: ChatRequest, error: unknown): Promise<unknown> {
  if (!(error instanceof Problem)) return error
  const caller = await callerOf(deps, request)
  const { keyId, allowedAgents } = requireKey(caller)
  const identify = (refusal: unknown) => problemOf(refusal).refusing({ keyId, ownerId: caller.userId })
  try {
    checkCall(deps.catalog.current(), request, deps.files.isIssued, allowedAgents)
    return identify(error)
  } catch (refusal) {
    return identify(refusal)
  }
}

/** A copy, since the request has texts that would be kept as long as the caller. */
function originOf({ address, requestId }: RequestOrigin): RequestOrigin {
  return { address, requestId }
}
