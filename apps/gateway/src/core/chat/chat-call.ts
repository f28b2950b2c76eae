import type { Adapter, Agent, AgentApp, CallMessage } from '#core/agents/adapter.ts'
import { defaultApp } from '#core/agents/translate/default-app.ts'
import { modelNames, takesAnyApp, type UsableAgent, usableAgents } from '#core/agents/usable.ts'
import { fail, refuseField } from '#core/errors.ts'
import { isLongerThan } from '#core/input-rules.ts'
import type { CallFace } from '#core/usage/ledger.ts'
import { FILES_MAX, fileUrlProblem } from './file-urls.ts'
import {
  lastUserPrompt,
  publicMessages,
  requireMessages,
  requirePublicUrls,
  wholePrompt,
} from './messages.ts'

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
  /** The face's own name of agent and app, where it has one. */
  readonly model?: string | undefined
  /** That name also names the agent: nothing else does. */
  readonly isAgentInModel?: boolean
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

/**
 * Everything that can be refused without a look at the database, in the decided order: agent, app, required ids, files.
 *
 * @param allowed - what the caller's key is restricted to: refusals name nothing else
 */
export function resolveCall(
  agents: ReadonlyMap<string, Agent>,
  raw: ChatCall,
  allowed: readonly string[] = [],
): ResolvedCall {
  const target = findAgent(agents, raw, allowed)
  const { adapter } = target
  requirePlainIds(raw)
  const app = findApp(agents, target, raw, allowed)
  const call = withPrompt(raw, target, adapter)
  const requires = adapter.requires(target)
  if (requires.includes('app_id') && app === undefined && isBlank(call.appId)) {
    fail('app_id_required', {
      field: ['appId'],
      detail: `agent ${target.id} needs ${call.model === undefined ? 'a real value' : `an app, as in ${target.id}/<app id>`}.`,
    })
  }
  // The OpenAI-compatible face has calls without a conversation: they get one of their own.
  if (requires.includes('conversation_id') && isBlank(call.conversationId) && call.messages === undefined) {
    fail('conversation_id_required', {
      field: ['conversationId'],
      detail: `agent ${target.id} needs a real value.`,
    })
  }
  requireFiles(call)
  requirePublicVariables(call.variables)
  return {
    ...call,
    target,
    adapter,
    app,
    ledgerApp: app?.id ?? (takesAnyApp(target) ? call.appId.trim() : ''),
    clientConversationId: conversationOf(call, requires.includes('conversation_id')),
  }
}

/** `conversation_id` alone where the agent requires it; for all others `chat_id`, or else `conversation_id`. */
function conversationOf({ chatId, conversationId }: ChatCall, byConversationId: boolean): string {
  const id = byConversationId || isBlank(chatId) ? conversationId : chatId
  return isBlank(id) ? '' : id
}

/** What a platform is asked with where the call carries messages instead of one query. */
function withPrompt(call: ChatCall, agent: Agent, adapter: Adapter): ChatCall {
  const { messages, unhonoured = [] } = call
  if (messages === undefined) {
    if (isBlank(call.query)) refuseField(['query'], 'expected a string that is not blank.')
    return call
  }
  requireMessages(messages)
  if (adapter.context(agent) === 'gateway') {
    requirePublicTools(call.parameters?.tools)
    return { ...call, messages: publicMessages(messages) }
  }
  const [name] = unhonoured
  if (name !== undefined) {
    refuseField([name], `agent ${agent.id} cannot honour it; expected it to be left out.`)
  }
  const prompt = isBlank(call.conversationId) ? wholePrompt(messages) : lastUserPrompt(messages)
  if (isBlank(prompt.query)) refuseField(['messages'], 'expected a user message that is not blank.')
  return { ...call, ...prompt }
}

/** A function's schema may name any URL, which nobody fetches. Other kinds of tools name servers, which some platforms call. */
function requirePublicTools(tools: unknown): void {
  if (!Array.isArray(tools)) return
  tools.forEach((tool: { type?: unknown } | null, index) => {
    if (tool?.type === 'function' || tool?.type === 'custom') return
    requirePublicUrls(tool, ['tools', index])
  })
}

type Agents = ReadonlyMap<string, Agent>

function findAgent(agents: Agents, call: ChatCall, allowed: readonly string[]): Agent {
  const id = call.agent?.trim().toLowerCase() ?? ''
  const agent = agents.get(id)
  if (agent !== undefined) return agent
  const usable = usableAgents(agents, allowed)
  if (call.isAgentInModel) {
    const names = usable.flatMap((each) => [...modelNames(each), ...openForm(each)])
    return fail('model_not_found', { field: ['agent'], detail: `expected ${oneOf(names)}.` })
  }
  const missing = id === '' ? 'is required; ' : ''
  const names = usable.map(({ agent: { id: name } }) => name)
  return fail('unknown_agent', { field: ['agent'], detail: `${missing}expected ${oneOf(names)}.` })
}

/** How any app of the platform is named as a model. */
function openForm({ agent, isWhole }: UsableAgent): string[] {
  return isWhole && takesAnyApp(agent) ? [`${agent.id}/<app id>`] : []
}

function oneOf(names: readonly string[]): string {
  return names.length === 0 ? 'an agent, but this key may use none' : `one of ${names.join(', ')}`
}

function findApp(
  agents: Agents,
  agent: Agent,
  call: ChatCall,
  allowed: readonly string[],
): AgentApp | undefined {
  const { appId } = call
  if (agent.apps.length === 0) {
    if (call.model?.includes('/') && !takesAnyApp(agent)) {
      fail('model_not_found', {
        field: ['appId'],
        detail: `agent ${agent.id} has no apps; expected no slash.`,
      })
    }
    return undefined
  }
  const app = isBlank(appId) ? defaultApp(agent) : agent.apps.find((entry) => entry.id === appId)
  if (app !== undefined) return app
  const usable = usableAgents(agents, allowed).find((each) => each.agent === agent)
  const known = (usable?.apps ?? []).map(({ id }) => appName(call, agent, id)).join(', ')
  if (isBlank(appId)) {
    const expected = known === '' ? `agent ${agent.id} needs a real value` : `expected one of ${known}`
    return fail('app_id_required', { field: ['appId'], detail: `${expected}.` })
  }
  return fail('app_not_found', {
    field: ['appId'],
    detail: `agent ${agent.id} has ${known === '' ? 'no such app' : known}.`,
  })
}

/** An app as this call has to name it. */
function appName({ model }: ChatCall, agent: Agent, app: string): string {
  return model === undefined ? app : `${agent.id}/${app}`
}

function requirePlainIds(call: ChatCall): void {
  for (const field of ['appId', 'chatId', 'conversationId', 'endUser'] as const) {
    requirePlainId(field, call[field])
  }
}

function requirePlainId(field: string, id: string): void {
  if (!isLongerThan(id, ID_CHARACTERS_MAX) && !CONTROL.test(id) && id.isWellFormed()) return
  refuseField(
    [field],
    `expected at most ${ID_CHARACTERS_MAX} characters, no control characters or lone surrogates.`,
  )
}

/** C0, DEL and C1: they would break headers, logs and the database. */
const CONTROL = /\p{Cc}/u

function requireFiles({ files }: ChatCall): void {
  if (files.length > FILES_MAX) {
    refuseField(['files'], `expected at most ${FILES_MAX} URLs.`)
  }
  for (const [index, file] of files.entries()) {
    const problem = fileUrlProblem(file)
    if (problem !== undefined) refuseField(['files', index], `expected ${problem}.`)
  }
}

/**
 * Objects and lists among the variables hold files (Dify's inputs, FastGPT's variables), which the platform fetches. A
 * variable that is a text is one: what becomes of it is up to the app's author.
 */
function requirePublicVariables(variables: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(variables)) {
    if (typeof value === 'object') requirePublicUrls(value, ['variables', name])
  }
}

function isBlank(id: string): boolean {
  return id.trim() === ''
}
