import type { Adapter, CallMessage } from '#core/agents/adapter.ts'
import type { Agent, AgentApp } from '#core/agents/agent.ts'
import { adapterOf } from '#core/agents/registry.ts'
import { fail } from '#core/errors.ts'
import type { CallFace } from '#core/usage/ledger.ts'
import { FILES_MAX, fileUrlProblem } from './file-urls.ts'
import { lastUserPrompt, requirePublicParts, wholePrompt } from './messages.ts'

/** A chat call as a face hands it over: shapes checked, meaning not. */
export interface ChatCall {
  readonly requestId: string
  readonly face: CallFace
  /** The API key, well-formed. */
  readonly credential: string
  /** The client's address, for the limit on refused keys. */
  readonly address: string
  /** The raw value of the `Agent` header (or what the face has in its place). */
  readonly agent: string | undefined
  readonly appId: string
  readonly chatId: string
  readonly conversationId: string
  readonly stream: boolean
  readonly query: string
  readonly files: readonly string[]
  readonly endUser: string
  readonly variables: Readonly<Record<string, unknown>>
  /** Of a face that carries the whole array; `query` and `files` are then made from it. */
  readonly messages?: readonly CallMessage[]
  /** The face's own name of agent and app. */
  readonly model?: string | undefined
  readonly parameters?: Readonly<Record<string, unknown>>
  /** Given parameters that only agents honour which take the array as it is. */
  readonly unhonoured?: readonly string[]
}

/** The same call with its agent, app and conversation found. */
export interface ResolvedCall extends ChatCall {
  readonly target: Agent
  readonly adapter: Adapter
  readonly app: AgentApp | undefined
  /** What enters the ledger and the metrics: caller text only where the platform uses it. */
  readonly ledgerApp: string
  /** The client's id of the conversation; empty where it starts a new one. */
  readonly clientConversationId: string
}

export const ID_CHARACTERS_MAX = 256

/** Everything that can be refused without a look at the database, in the decided order: agent, app, required ids, files. */
export function resolveCall(agents: ReadonlyMap<string, Agent>, raw: ChatCall): ResolvedCall {
  const target = findAgent(agents, raw)
  const adapter = adapterOf(target.platform)
  requirePlainIds(raw)
  const app = findApp(target, raw)
  const call = withPrompt(raw, target, adapter)
  const requires = adapter.requires(target)
  if (requires.includes('app_id') && app === undefined && isBlank(call.appId)) {
    fail('app_id_required', `${appField(call)}: agent ${target.id} needs a real value.`)
  }
  // The OpenAI-compatible face has calls without a conversation: they get one of their own.
  if (requires.includes('conversation_id') && isBlank(call.conversationId) && call.messages === undefined) {
    fail('conversation_id_required', `body.conversation_id: agent ${target.id} needs a real value.`)
  }
  requireFiles(call.files)
  return {
    ...call,
    target,
    adapter,
    app,
    ledgerApp: app?.id ?? (requires.includes('app_id') ? call.appId : ''),
    clientConversationId: requires.includes('conversation_id')
      ? call.conversationId
      : isBlank(call.chatId)
        ? call.conversationId
        : call.chatId,
  }
}

/** What a platform is asked with where the call carries messages instead of one query. */
function withPrompt(call: ChatCall, agent: Agent, adapter: Adapter): ChatCall {
  const { messages, unhonoured = [] } = call
  if (messages === undefined) return call
  if (adapter.context(agent) === 'kept') {
    requirePublicParts(messages)
    return call
  }
  const [name] = unhonoured
  if (name !== undefined) {
    fail('invalid_request', `body.${name}: agent ${agent.id} cannot honour it; expected it to be left out.`)
  }
  const prompt = isBlank(call.conversationId) ? wholePrompt(messages) : lastUserPrompt(messages)
  if (isBlank(prompt.query))
    fail('invalid_request', 'body.messages: expected a user message that is not blank.')
  return { ...call, ...prompt }
}

function findAgent(agents: ReadonlyMap<string, Agent>, { agent: name, model }: ChatCall): Agent {
  const id = name?.trim().toLowerCase() ?? ''
  const agent = agents.get(id)
  if (agent !== undefined) return agent
  const known = [...agents.keys()].join(', ')
  if (model !== undefined) return fail('model_not_found', `body.model: expected one of ${known}.`)
  return fail('unknown_agent', `headers.agent: ${id === '' ? 'is required; ' : ''}expected one of ${known}.`)
}

function findApp(agent: Agent, call: ChatCall): AgentApp | undefined {
  const { appId } = call
  if (agent.apps.length === 0) return undefined
  const app = isBlank(appId)
    ? (agent.apps.find((entry) => entry.default) ?? (agent.apps.length === 1 ? agent.apps[0] : undefined))
    : agent.apps.find((entry) => entry.id === appId)
  if (app !== undefined) return app
  const known = agent.apps.map((entry) => entry.id).join(', ')
  if (isBlank(appId)) return fail('app_id_required', `${appField(call)}: expected one of ${known}.`)
  return fail('app_not_found', `${appField(call)}: agent ${agent.id} has ${known}.`)
}

function appField({ model }: ChatCall): string {
  return model === undefined ? 'body.app_id' : 'body.model'
}

function requirePlainIds(call: ChatCall): void {
  requirePlainId('app_id', call.appId)
  requirePlainId('chat_id', call.chatId)
  requirePlainId('conversation_id', call.conversationId)
  requirePlainId('user', call.endUser)
}

function requirePlainId(field: string, id: string): void {
  if (isShort(id) && !CONTROL.test(id) && id.isWellFormed()) return
  fail(
    'invalid_request',
    `body.${field}: expected at most ${ID_CHARACTERS_MAX} characters, no control characters or lone surrogates.`,
  )
}

/** Characters, as the contract counts them: a pair of surrogates is one. */
function isShort(id: string): boolean {
  return (
    id.length <= ID_CHARACTERS_MAX || [...id.slice(0, 2 * ID_CHARACTERS_MAX + 1)].length <= ID_CHARACTERS_MAX
  )
}

/** C0, DEL and C1: they would break headers, logs and the database. */
const CONTROL = /\p{Cc}/u

function requireFiles(files: readonly string[]): void {
  if (files.length > FILES_MAX) fail('invalid_request', `body.files: expected at most ${FILES_MAX} URLs.`)
  for (const [index, file] of files.entries()) {
    const problem = fileUrlProblem(file)
    if (problem !== undefined) fail('invalid_request', `body.files[${index}]: expected ${problem}.`)
  }
}

function isBlank(id: string): boolean {
  return id.trim() === ''
}
