import type { Agent, AgentApp, CallMessage } from '#core/agents/adapter.ts'
import { type AllowedAgent, modelNames, selectAllowedAgents } from '#core/agents/allowed-agents.ts'
import type { Agents } from '#core/agents/catalog.ts'
import type { ServedAgent } from '#core/agents/served-agent.ts'
import { defaultApp } from '#core/agents/translate/default-app.ts'
import { fail, refuseField } from '#core/base/errors/errors.ts'
import type { CallFace } from '#core/ledger/call-kinds.ts'
import { allOf, eachOf } from '#core/requests/input/all-of.ts'
import { requireItems, requireShort } from '#core/requests/input/input-rules.ts'
import type {
  AgentName,
  ChatRequest,
  ConversationName,
  EarlierCallName,
  RequestedMessages,
  RequestedQuestion,
} from './chat-request.ts'
import { FILES_MAX, RequestUrls } from './file-urls.ts'
import {
  type FileRules,
  lastUserPrompt,
  type NamedFile,
  publicMessages,
  requireMessages,
  requirePublicUrls,
  wholePrompt,
} from './messages.ts'

/** The content of a request, with its agent, app and conversation resolved. */
export interface Call {
  readonly requestId: string
  readonly face: CallFace
  readonly credential: string
  readonly address: string
  readonly stream: boolean
  readonly endUser: string
  /** The end user to whom the request is bound, if it is bound to one: then it may use no files of another. */
  readonly boundTo?: string | undefined
  readonly agent: Agent
  readonly app: AgentApp | undefined
  /** The app as the request names it, for platforms that take any. */
  readonly appId: string
  /** The app as the ledger and the metrics record it: text of the caller's choosing only if the platform uses it. */
  readonly ledgerApp: string
  readonly asks: Question | Messages
  /** The kinds of the request's tools, where the agent is configured to ignore them. */
  readonly ignoredTools: readonly string[]
  readonly conversation: CallConversation
}

/** A call whose deployment is still to be chosen. */
export interface UnroutedCall extends Call {
  readonly agent: ServedAgent
}

/** One text with its files, for agents that keep the context of a conversation, or none. */
export interface Question {
  readonly kind: 'question'
  readonly query: string
  readonly files: readonly NamedFile[]
  readonly variables: Readonly<Record<string, unknown>>
  /** Whether files must be looked up or sent by the gateway: URLs that it issued, or files that the request carries. */
  readonly hasOwnFiles: boolean
  /** Whether it was composed of all messages of the request. */
  readonly isWhole: boolean
  /** Whether the request has messages that are no part of it, since the agent remembers the conversation. */
  readonly isLastOfMany: boolean
  /** The text of the user's last message, where the request consists of messages. */
  readonly lastQuery?: string
}

/** The message array as the request carries it, for agents whose context is in it. */
export interface Messages {
  readonly kind: 'messages'
  readonly messages: readonly CallMessage[]
  readonly parameters: Readonly<Record<string, unknown>>
  readonly sentFields: readonly string[]
  readonly hasOwnFiles: boolean
  readonly keepsTurn: boolean
}

/** The conversation by the client's id; a new one has none yet. */
export type CallConversation =
  | { readonly kind: 'new' }
  | { readonly kind: 'named'; readonly id: string }
  | ContinuedConversation

/** A conversation that goes on after the last of these calls. Its id is empty as long as only they name it. */
export interface ContinuedConversation {
  readonly kind: 'continued'
  readonly after: readonly EarlierCallName[]
  readonly id: string
}

export const ID_CHARACTERS_MAX = 256

/**
 * Resolves the agent, the app and the conversation of a call, and rejects everything that can be rejected without a
 * database query. The checks run in a fixed order (agent, app, required ids, files), so that a call with several errors
 * always gets the same one.
 *
 * @param isIssued - whether a URL of a file was issued by the gateway
 * @param allowed - the agents and apps that the caller's key is restricted to; error messages name no others
 * @param isNew - set for a conversation that its caller names and that has no turn yet, whose messages all reach the agent
 * @throws Problem `unknown_agent`, `model_not_found`, `app_not_found`, `app_id_required`, `conversation_id_required` or
 * `invalid_request`
 */
export function resolveCall(
  agents: Agents,
  request: ChatRequest,
  isIssued: (url: string) => boolean,
  allowed: readonly string[] = [],
  isNew?: true,
): UnroutedCall {
  const { requestId, face, credential, address, stream, endUser, agent: name, conversation } = request
  const allowedAgents = () => selectAllowedAgents(agents, allowed)
  const agent = findAgent(agents, name, allowedAgents)
  requirePlainIds(request)
  const app = findApp(agent, name, allowedAgents)
  const { asks: asked } = request
  let urls: RequestUrls | undefined
  let asks: AsksOf
  if (asked.kind === 'messages') {
    urls = new RequestUrls(isIssued)
    asks = messagesOf(asked, request, agent, fileRules(agent, urls), isNew)
  } else {
    if (asked.files.length > 0 || Object.keys(asked.variables).length > 0) urls = new RequestUrls(isIssued)
    asks = questionOf(asked, request.answer)
  }
  const needed = agent.requires
  if (needed.includes('app_id')) requireAppId(agent, app, name)
  const needsConversation = needed.includes('conversation_id')
  if (needsConversation) requireConversationId(agent, request)
  if (urls !== undefined && asks.kind === 'question') requireFiles(asks.files, urls)
  if (urls !== undefined && asked.kind === 'question') requirePublicVariables(asked.variables, urls)
  return {
    requestId,
    face,
    credential,
    address,
    stream,
    endUser,
    agent,
    app,
    appId: name.appId,
    ledgerApp: app?.id ?? (agent.takesAnyApp ? name.appId.trim() : ''),
    asks: { ...asks, hasOwnFiles: urls !== undefined && hasOwnFiles(asks, urls) },
    ignoredTools: asked.kind === 'messages' ? ignoredTools(asked, agent) : NO_TOOLS,
    conversation: conversationOf(conversation, needsConversation),
  }
}

const NO_TOOLS: readonly string[] = []

/**
 * Applies every check of {@link resolveCall}, also after one has failed. It is for calls that are refused anyway, because
 * it costs more. Where the agent is not known, what depends on it is left out; of messages only the first mistake is found.
 *
 * @throws Problem the first, in the order of {@link resolveCall}, with the mistakes of all
 */
export function checkCall(
  agents: Agents,
  request: ChatRequest,
  isIssued: (url: string) => boolean,
  allowed: readonly string[],
): void {
  const { agent: name, conversation, endUser, asks } = request
  const allowedAgents = () => selectAllowedAgents(agents, allowed)
  const urls = new RequestUrls(isIssued)
  let agent: Agent | undefined
  const ofAgent = (rule: (known: Agent) => unknown) => () => (agent === undefined ? undefined : rule(agent))
  allOf<Record<string, unknown>>({
    agent: () => {
      agent = findAgent(agents, name, allowedAgents)
    },
    appId: () => requirePlainId('appId', name.appId),
    chatId: () => requirePlainId('chatId', conversation.chatId),
    conversationId: () => requirePlainId('conversationId', conversation.conversationId),
    endUser: () => requirePlainId('endUser', endUser),
    app: ofAgent((known) => {
      const app = findApp(known, name, allowedAgents)
      if (known.requires.includes('app_id')) requireAppId(known, app, name)
    }),
    ...(asks.kind === 'question'
      ? rulesOfQuestion(asks, request.answer, urls)
      : { messages: ofAgent((known) => messagesOf(asks, request, known, fileRules(known, urls))) }),
    conversation: ofAgent((known) => {
      if (known.requires.includes('conversation_id')) requireConversationId(known, request)
    }),
  })
}

function rulesOfQuestion(
  { files, variables, ...asked }: RequestedQuestion,
  answer: ChatRequest['answer'],
  urls: RequestUrls,
) {
  return {
    query: () => (answer === undefined ? requireQuery({ ...asked, files }) : undefined),
    files() {
      requireItems(['files'], files, FILES_MAX)
      eachOf(files, (file, index) => requireFile({ field: ['files', index], file }, urls))
    },
    variables: () => requirePublicVariables(variables, urls),
  }
}

function fileRules(agent: Agent, urls: RequestUrls): FileRules {
  const { uploadFile, takesDataUrls } = agent.adapter
  return { urls, takesInlineFiles: uploadFile !== undefined || takesDataUrls }
}

function requireAppId(agent: Agent, app: AgentApp | undefined, { appId, model }: AgentName): void {
  if (app !== undefined || !isBlank(appId)) return
  fail('app_id_required', {
    field: ['appId'],
    detail: `agent ${agent.id} needs ${model === undefined ? 'an app id' : `an app, as in ${agent.id}/<app id>`}${hintOf(agent)}.`,
  })
}

function hintOf({ adapter }: Agent): string {
  return adapter.appIdHint === undefined ? '' : `, ${adapter.appIdHint}`
}

/** On faces with messages a call without a `conversation_id` gets a new conversation. */
function requireConversationId(agent: Agent, { asks, conversation }: ChatRequest): void {
  if (asks.kind === 'messages' || !isBlank(conversation.conversationId)) return
  fail('conversation_id_required', {
    field: ['conversationId'],
    detail: `agent ${agent.id} needs a real value.`,
  })
}

function requireQuery({ query, files }: Pick<RequestedQuestion, 'query' | 'files'>): void {
  if (isBlank(query) && files.length === 0)
    refuseField(['query'], 'expected a string that is not blank, or files.')
}

/** Whether files are among those that the gateway has or gets itself. */
function hasOwnFiles(asks: AsksOf, urls: RequestUrls): boolean {
  if (asks.kind === 'messages') return urls.hasIssued
  return asks.files.some(({ file }) => typeof file !== 'string' || urls.isIssued(file))
}

/** `conversation_id` if the agent requires it; otherwise `chat_id`, and `conversation_id` where that is blank. */
function conversationOf(
  { chatId, conversationId, after = [] }: ConversationName,
  byConversationId: boolean,
): CallConversation {
  const named = byConversationId || isBlank(chatId) ? conversationId : chatId
  const id = isBlank(named) ? '' : named
  if (after.length > 0) return { kind: 'continued', after, id }
  return id === '' ? { kind: 'new' } : { kind: 'named', id }
}

type AsksOf = Omit<Question, 'hasOwnFiles'> | Omit<Messages, 'hasOwnFiles'>

function questionOf(asks: RequestedQuestion, answer: ChatRequest['answer']): AsksOf {
  if (answer === undefined) requireQuery(asks)
  const files = asks.files.map((file, index) => ({ field: ['files', index], file }))
  return { ...asks, files, isWhole: false, isLastOfMany: false }
}

/** What the agent gets of messages: their array only if the context of its conversations is in it. */
function messagesOf(
  asks: RequestedMessages,
  { conversation, answer }: Pick<ChatRequest, 'conversation' | 'answer'>,
  agent: Agent,
  rules: FileRules,
  isNamedAnew = false,
): AsksOf {
  const { messages, parameters, sentFields, keepsTurn } = asks
  requireMessages(messages)
  const context = agent.context
  if (context === 'gateway') {
    requirePublicTools(parameters.tools, rules.urls)
    return {
      kind: 'messages',
      messages: publicMessages(messages, rules),
      parameters,
      sentFields,
      keepsTurn,
    }
  }
  requireSupported(asks, agent)
  const isUnnamed = isBlank(conversation.conversationId) && (conversation.after ?? []).length === 0
  const isNew = isUnnamed || isNamedAnew
  const isWhole = (context === 'none' || isNew) && answer === undefined
  const last = lastUserPrompt(messages, rules)
  const { query, files } = isWhole ? wholePrompt(messages, rules) : last
  if (isBlank(query) && files.length === 0 && answer === undefined)
    refuseField(['messages'], 'expected a user message that is not blank, or files in it.')
  const isLastOfMany = !isWhole && messages.length > 1
  return { kind: 'question', query, files, variables: {}, isWhole, isLastOfMany, lastQuery: last.query }
}

function requireSupported({ unsupported, tools }: RequestedMessages, agent: Agent): void {
  const ignoresTools = agent.tools === 'ignore'
  // The client builds on a call that it forces, and there can be none.
  if (ignoresTools && tools.forcedBy !== undefined)
    refuseField(tools.forcedBy, `agent ${agent.id} ignores tools; expected auto or none.`)
  const [field] = ignoresTools ? unsupported : [...tools.fields, ...unsupported]
  if (field === undefined) return
  refuseField(field, `agent ${agent.id} does not support it; expected it to be left out.`)
}

function ignoredTools({ tools }: RequestedMessages, agent: Agent): readonly string[] {
  const isIgnoring = agent.tools === 'ignore' && agent.context !== 'gateway'
  return isIgnoring ? tools.kinds : NO_TOOLS
}

/**
 * The schema of a function may contain any URL, since no platform fetches those. Other kinds of tools name servers, which
 * some platforms call.
 */
function requirePublicTools(tools: unknown, urls: RequestUrls): void {
  if (!Array.isArray(tools)) return
  tools.forEach((tool: { type?: unknown } | null, index) => {
    if (tool?.type === 'function' || tool?.type === 'custom') return
    requirePublicUrls(tool, ['tools', index], urls)
  })
}

type SelectAllowed = () => readonly AllowedAgent[]

function findAgent(agents: Agents, name: AgentName, allowedAgents: SelectAllowed): ServedAgent {
  const id = name.id?.trim().toLowerCase() ?? ''
  const agent = agents.get(id)
  if (agent !== undefined) return agent
  if (name.isInModel) {
    const names = allowedAgents().flatMap((each) => [...modelNames(each), ...openForm(each)])
    return fail('model_not_found', { field: ['agent'], detail: `expected ${oneOf(names)}.` })
  }
  const missing = id === '' ? 'is required; ' : ''
  const names = allowedAgents().map(({ agent: { id: known } }) => known)
  return fail('unknown_agent', { field: ['agent'], detail: `${missing}expected ${oneOf(names)}.` })
}

/** The pattern that names any app of an agent as a model, for agents that accept apps that are not configured. */
function openForm({ agent, isWhole }: AllowedAgent): string[] {
  return isWhole && agent.takesAnyApp ? [`${agent.id}/<app id>`] : []
}

function oneOf(names: readonly string[]): string {
  return names.length === 0 ? 'an agent, but this key may use none' : `one of ${names.join(', ')}`
}

function findApp(
  agent: Agent,
  { appId, model }: AgentName,
  allowedAgents: SelectAllowed,
): AgentApp | undefined {
  if (agent.apps.length === 0) {
    if (model?.includes('/') && !agent.takesAnyApp) {
      fail('model_not_found', {
        field: ['appId'],
        detail: `agent ${agent.id} has no apps; expected no slash.`,
      })
    }
    return undefined
  }
  const app = isBlank(appId) ? defaultApp(agent) : agent.apps.find((entry) => entry.id === appId)
  if (app !== undefined) return app
  const apps = allowedAgents().find((each) => each.agent === agent)?.apps ?? []
  const known = apps.map(({ id }) => (model === undefined ? id : `${agent.id}/${id}`)).join(', ')
  if (isBlank(appId)) {
    const expected =
      known === '' ? `agent ${agent.id} needs an app id${hintOf(agent)}` : `expected one of ${known}`
    return fail('app_id_required', { field: ['appId'], detail: `${expected}.` })
  }
  return fail('app_not_found', {
    field: ['appId'],
    detail: `agent ${agent.id} has ${known === '' ? 'no such app' : known}.`,
  })
}

function requirePlainIds({ agent, conversation, endUser }: ChatRequest): void {
  requirePlainId('appId', agent.appId)
  requirePlainId('chatId', conversation.chatId)
  requirePlainId('conversationId', conversation.conversationId)
  requirePlainId('endUser', endUser)
}

function requirePlainId(field: string, id: string): void {
  // A text has at least as many code units as characters.
  if (id.length > ID_CHARACTERS_MAX) requireShort([field], id, ID_CHARACTERS_MAX)
  if (!CONTROL.test(id) && id.isWellFormed()) return
  refuseField(
    [field],
    `expected at most ${ID_CHARACTERS_MAX} characters, no control characters or lone surrogates.`,
  )
}

/** The C0 and C1 control characters and DEL, which would break headers, log lines and database texts. */
const CONTROL = /\p{Cc}/u

function requireFiles(files: readonly NamedFile[], urls: RequestUrls): void {
  requireItems(['files'], files, FILES_MAX)
  for (const file of files) requireFile(file, urls)
}

export function requireFile({ field, file }: NamedFile, urls: RequestUrls): void {
  if (typeof file !== 'string') return
  const problem = urls.fileProblemOf(file)
  if (problem !== undefined) refuseField(field, `expected ${problem}.`)
}

/**
 * Variables that are objects or arrays describe files (Dify's inputs, FastGPT's variables), which the platform fetches. A
 * string is passed on unchecked: what the app does with it is up to the app's author.
 */
function requirePublicVariables(variables: Readonly<Record<string, unknown>>, urls: RequestUrls): void {
  for (const [name, value] of Object.entries(variables)) {
    if (typeof value === 'object') requirePublicUrls(value, ['variables', name], urls)
  }
}

function isBlank(id: string): boolean {
  return id.trim() === ''
}
