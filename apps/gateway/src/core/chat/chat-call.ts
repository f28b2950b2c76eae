import type { Adapter, Agent, AgentApp, CallMessage } from '#core/agents/adapter.ts'
import { defaultApp } from '#core/agents/translate/default-app.ts'
import { modelNames, takesAnyApp, type UsableAgent, usableAgents } from '#core/agents/usable.ts'
import { fail, refuseField } from '#core/errors.ts'
import { requireItems, requireShort } from '#core/input/input-rules.ts'
import type { CallFace } from '#core/ledger/ledger.ts'
import type { FieldPath } from '#core/values/field-path.ts'
import { FILES_MAX, fileUrlProblem } from './file-urls.ts'
import {
  type CallFile,
  type FileRules,
  fileUrlsOf,
  lastUserPrompt,
  publicMessages,
  requireMessages,
  requirePublicUrls,
  wholePrompt,
} from './messages.ts'

/** A chat call as a face passes it on: the types of its fields are checked, their values are not. */
export interface ChatCall {
  readonly requestId: string
  readonly face: CallFace
  /** The API key; it has the form of one but may not exist. */
  readonly credential: string
  /** The client's network address, by which the limit on refused keys counts. */
  readonly address: string
  /** The raw value of the `Agent` header, or of the field that the face has in its place. */
  readonly agent: string | undefined
  readonly appId: string
  readonly chatId: string
  readonly conversationId: string
  readonly stream: boolean
  readonly query: string
  /** URLs; on faces with messages they may also be files that the request carries. */
  readonly files: readonly CallFile[]
  readonly endUser: string
  readonly variables: Readonly<Record<string, unknown>>
  /** Set by faces whose requests carry the whole message array; `query` and `files` are then derived from it. */
  readonly messages?: readonly CallMessage[]
  /** The model name of the request, on faces where it names the agent and the app. */
  readonly model?: string | undefined
  /** Whether the agent is named by `model` alone, without an `Agent` header. */
  readonly isAgentInModel?: boolean
  readonly parameters?: Readonly<Record<string, unknown>>
  /**
   * Whether the gateway keeps the turn for an agent without memory although the request carries messages; the turns kept
   * before then stand for what the messages repeat of them.
   */
  readonly keepsTurn?: boolean
  /** Earlier calls of one conversation, which goes on after the last of them. */
  readonly continued?: readonly Continued[]
  /** Fields of the request that are supported only by agents that take the message array as it is. */
  readonly unsupported?: readonly FieldPath[]
}

/** An earlier call of a conversation that a call continues, and the field that names it. */
export interface Continued {
  readonly callId: string
  readonly field: FieldPath
}

/** A call whose agent, app and conversation have been resolved. */
export interface ResolvedCall extends ChatCall {
  /** The field of each of `files`. */
  readonly fileFields: readonly FieldPath[]
  readonly target: Agent
  readonly adapter: Adapter
  readonly app: AgentApp | undefined
  /** The app as the ledger and the metrics record it: text of the caller's choosing only if the platform uses it. */
  readonly ledgerApp: string
  /** Whether the agent gets all messages of the request; otherwise it gets the query and the files alone. */
  readonly sendsMessages: boolean
  /** The client's id of the conversation; empty if the call starts a new one. */
  readonly clientConversationId: string
  /** Whether files must be looked up or sent by the gateway: URLs that it issued, or files that the request carries. */
  readonly hasOwnFiles: boolean
}

export const ID_CHARACTERS_MAX = 256

/**
 * Resolves the agent, the app and the conversation of a call, and rejects everything that can be rejected without a
 * database query. The checks run in a fixed order (agent, app, required ids, files), so that a call with several errors
 * always gets the same one.
 *
 * @param isIssued - whether a URL of a file was issued by the gateway
 * @param allowed - the agents and apps that the caller's key is restricted to; error messages name no others
 * @throws Problem `unknown_agent`, `model_not_found`, `app_not_found`, `app_id_required`, `conversation_id_required` or
 * `invalid_request`
 */
export function resolveCall(
  agents: ReadonlyMap<string, Agent>,
  raw: ChatCall,
  isIssued: FileRules['isIssued'],
  allowed: readonly string[] = [],
): ResolvedCall {
  const target = findAgent(agents, raw, allowed)
  const { adapter } = target
  requirePlainIds(raw)
  const app = findApp(agents, target, raw, allowed)
  const rules = { isIssued, takesInlineFiles: adapter.uploadFile !== undefined }
  const call = withPrompt(raw, target, rules)
  const requires = adapter.requires(target)
  if (requires.includes('app_id') && app === undefined && isBlank(call.appId)) {
    fail('app_id_required', {
      field: ['appId'],
      detail: `agent ${target.id} needs ${call.model === undefined ? 'a real value' : `an app, as in ${target.id}/<app id>`}.`,
    })
  }
  // On the OpenAI-compatible face a call may name no conversation; it then gets a new one.
  if (requires.includes('conversation_id') && isBlank(call.conversationId) && call.messages === undefined) {
    fail('conversation_id_required', {
      field: ['conversationId'],
      detail: `agent ${target.id} needs a real value.`,
    })
  }
  requireFiles(call, rules)
  requirePublicVariables(call.variables)
  return {
    ...call,
    target,
    adapter,
    app,
    ledgerApp: app?.id ?? (takesAnyApp(target) ? call.appId.trim() : ''),
    clientConversationId: conversationOf(call, requires.includes('conversation_id')),
    hasOwnFiles: hasOwnFiles(call, adapter.context(target) === 'gateway', isIssued),
  }
}

function hasOwnFiles(
  { files, messages }: ChatCall,
  sendsMessages: boolean,
  isIssued: FileRules['isIssued'],
): boolean {
  if (files.some((file) => typeof file !== 'string' || isIssued(file))) return true
  if (!sendsMessages || messages === undefined) return false
  const urls = fileUrlsOf(messages)
  if (urls.length === 0) return false
  const issued = new Set(urls.flatMap(([, url]) => (isIssued(url) ? url : [])))
  // Each of them is looked up, and some are read into memory. The platform bounds the number of the others.
  if (issued.size > FILES_MAX) refuseField(['messages'], `expected at most ${FILES_MAX} uploaded files.`)
  return issued.size > 0
}

/** `conversation_id` if the agent requires it; otherwise `chat_id`, and `conversation_id` where that is blank. */
function conversationOf({ chatId, conversationId }: ChatCall, byConversationId: boolean): string {
  const id = byConversationId || isBlank(chatId) ? conversationId : chatId
  return isBlank(id) ? '' : id
}

type Derived = Pick<ResolvedCall, 'fileFields' | 'sendsMessages'>

/** Derives the query and the files for the platform if the call carries messages instead of one query. */
function withPrompt(raw: ChatCall, agent: Agent, rules: FileRules): ChatCall & Derived {
  const { messages, unsupported = [], continued = [] } = raw
  const call = { ...raw, sendsMessages: false, fileFields: raw.files.map((_, index) => ['files', index]) }
  if (messages === undefined) {
    if (isBlank(call.query)) refuseField(['query'], 'expected a string that is not blank.')
    return call
  }
  requireMessages(messages)
  if (agent.adapter.context(agent) === 'gateway') {
    requirePublicTools(call.parameters?.tools)
    return { ...call, sendsMessages: true, messages: publicMessages(messages, rules) }
  }
  const [field] = unsupported
  if (field !== undefined) {
    refuseField(field, `agent ${agent.id} does not support it; expected it to be left out.`)
  }
  const hasMemory = agent.adapter.context(agent) !== 'none'
  const sendsMessages = !hasMemory || (isBlank(call.conversationId) && continued.length === 0)
  const { query, files } = sendsMessages ? wholePrompt(messages, rules) : lastUserPrompt(messages, rules)
  if (isBlank(query)) refuseField(['messages'], 'expected a user message that is not blank.')
  return {
    ...{ ...call, sendsMessages, query },
    files: files.map(({ file }) => file),
    fileFields: files.map(({ field }) => field),
  }
}

/**
 * The schema of a function may contain any URL, since no platform fetches those. Other kinds of tools name servers, which
 * some platforms call.
 */
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

/** The pattern that names any app of an agent as a model, for agents that accept apps that are not configured. */
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

/** The name by which a call of this face refers to an app. */
function appName({ model }: ChatCall, agent: Agent, app: string): string {
  return model === undefined ? app : `${agent.id}/${app}`
}

function requirePlainIds(call: ChatCall): void {
  for (const field of ['appId', 'chatId', 'conversationId', 'endUser'] as const) {
    requirePlainId(field, call[field])
  }
}

function requirePlainId(field: string, id: string): void {
  requireShort([field], id, ID_CHARACTERS_MAX)
  if (!CONTROL.test(id) && id.isWellFormed()) return
  refuseField(
    [field],
    `expected at most ${ID_CHARACTERS_MAX} characters, no control characters or lone surrogates.`,
  )
}

/** The C0 and C1 control characters and DEL, which would break headers, log lines and database texts. */
const CONTROL = /\p{Cc}/u

function requireFiles({ files, fileFields }: ChatCall & Derived, { isIssued }: FileRules): void {
  requireItems(['files'], files, FILES_MAX)
  for (const [index, file] of files.entries()) {
    if (typeof file !== 'string' || isIssued(file)) continue
    const problem = fileUrlProblem(file)
    if (problem !== undefined) refuseField(fileFields[index] ?? ['files'], `expected ${problem}.`)
  }
}

/**
 * Variables that are objects or arrays describe files (Dify's inputs, FastGPT's variables), which the platform fetches. A
 * string is passed on unchecked: what the app does with it is up to the app's author.
 */
function requirePublicVariables(variables: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(variables)) {
    if (typeof value === 'object') requirePublicUrls(value, ['variables', name])
  }
}

function isBlank(id: string): boolean {
  return id.trim() === ''
}
