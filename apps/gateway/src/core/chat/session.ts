import type { Adapter, AgentCall } from '#core/agents/adapter.ts'
import type { Upstream } from '#core/agents/upstream.ts'
import { userMessage } from '#core/agents/user-message.ts'
import type { Admitted } from '#core/usage/ledger.ts'
import type { ResolvedCall } from './chat-call.ts'
import type { Conversations, Mapping } from './conversations.ts'
import type { ChatEvent, Failure } from './events.ts'
import type { Identity } from './identity.ts'
import { ReplyText } from './reply-text.ts'

/** One call's part in its conversation: what the platform is asked with, and what is kept of the answer. */
export interface Session {
  readonly call: AgentCall
  /** Events that were passed on. */
  saw(events: readonly ChatEvent[]): void
  /** The platform names its conversation; told as often as it does. */
  named(platformId: string): void
  /** The reply is complete. Resolves when the next turn can see it; undefined where it can already. */
  complete(): Promise<void> | undefined
  failed(failure: Failure | undefined): Promise<void>
}

export interface SessionDeps {
  readonly conversations: Conversations
  readonly identity: Identity
  readonly upstream: Upstream
}

export interface SessionRequest {
  readonly call: ResolvedCall
  readonly callId: string
  readonly admitted: Admitted
  /** The conversation as the client names it. */
  readonly conversationId: string
  /** Whether the caller is gone meanwhile. */
  isOver(): boolean
}

/** A platform refused to open a conversation. */
export class OpeningFailed extends Error {
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.reason)
    this.failure = failure
  }
}

export function openSession(deps: SessionDeps, request: SessionRequest): Session | Promise<Session> {
  const { call, admitted, conversationId } = request
  const { identity } = deps
  const asked = agentCall(call, identity.endUserId(admitted.ownerId, call.endUser))
  switch (call.adapter.context(call.target)) {
    case 'client': {
      const derived = conversationKey(identity, call, admitted, conversationId)
      return plainSession({ ...asked, conversationId: derived })
    }
    case 'platform':
      return mappedSession(deps, request, asked)
    case 'kept':
      // A face that carries the whole array keeps its context itself.
      return call.messages === undefined ? keptSession(deps, request, asked) : plainSession(asked)
    case 'none':
      return plainSession(asked)
  }
}

function agentCall(call: ResolvedCall, endUser: string): AgentCall {
  return {
    agent: call.target,
    app: call.app,
    appId: call.appId,
    stream: call.stream,
    query: call.query,
    messages: call.messages,
    files: call.files,
    variables: call.variables,
    conversationId: undefined,
    endUser,
    parameters: call.parameters ?? {},
  }
}

function plainSession(call: AgentCall): Session {
  return {
    call,
    saw: () => undefined,
    named: () => undefined,
    complete: () => undefined,
    failed: async () => undefined,
  }
}

/** For agents without a context: the kept turns go before the query, and the completed one is kept. */
async function keptSession(
  { conversations, identity }: SessionDeps,
  { call, callId, admitted, conversationId }: SessionRequest,
  asked: AgentCall,
): Promise<Session> {
  const key = conversationKey(identity, call, admitted, conversationId)
  // A conversation that starts with this call has no turns to look for.
  const turns = call.clientConversationId === '' ? [] : await conversations.turns(key)
  const replyText = new ReplyText()
  let answer = ''
  return {
    ...plainSession({ ...asked, messages: [...turns, userMessage(call.query, call.files)] }),
    saw(events) {
      for (const event of events) {
        const text = replyText.add(event)
        answer = event.type === 'replace' ? event.text : answer + text
      }
    },
    complete: () => conversations.remember(key, callId, call.query, answer),
  }
}

/** For platforms with ids of their own. */
async function mappedSession(
  deps: SessionDeps,
  { call, callId, admitted, conversationId, isOver }: SessionRequest,
  asked: AgentCall,
): Promise<Session> {
  const { conversations, identity, upstream } = deps
  const mapping = await conversations.enter({
    key: conversationKey(identity, call, admitted, conversationId),
    ownerId: admitted.ownerId,
    agent: call.target.id,
    callId,
    waitMs: call.target.timeouts.firstByteMs,
    isOver,
  })
  const platformId = mapping.platformId ?? (await createConversation(upstream, call.adapter, asked, mapping))
  let binding: Promise<void> | undefined
  return {
    ...plainSession({ ...asked, conversationId: platformId }),
    named(id) {
      if (mapping.platformId === undefined && platformId === undefined) binding ??= mapping.bind(id)
    },
    async complete() {
      await (binding ?? (platformId === undefined ? mapping.release() : undefined))
    },
    async failed(failure) {
      await binding
      if (failure?.reason === 'conversation_not_found') await mapping.lose()
      else if (binding === undefined && platformId === undefined) await mapping.release()
    },
  }
}

/** Undefined where the platform makes the conversation with the first message. */
async function createConversation(
  upstream: Upstream,
  adapter: Adapter,
  call: AgentCall,
  mapping: Mapping,
): Promise<string | undefined> {
  const helper = adapter.createConversation?.(call)
  if (helper === undefined) return undefined
  try {
    const result = await upstream.help(call.agent, helper, call.agent.timeouts.firstByteMs)
    if ('failure' in result) throw new OpeningFailed(result.failure)
    await mapping.bind(result.ok.conversationId)
    return result.ok.conversationId
  } catch (error) {
    await mapping.release()
    throw error
  }
}

/** One end user's conversation with one app: nobody else's ids lead to it. */
function conversationKey(
  identity: Identity,
  call: ResolvedCall,
  { ownerId }: Admitted,
  conversationId: string,
): string {
  return identity.conversationKey([ownerId, call.endUser, call.target.id, call.ledgerApp, conversationId])
}
