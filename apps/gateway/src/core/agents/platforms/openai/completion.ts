import type { AgentCall, EmptyReply, ReplyState } from '#core/agents/adapter.ts'
import type { ChatEvent } from '#core/agents/events.ts'
import { detail } from '#core/agents/translate/detail-event.ts'
import type { FrameParser } from '#core/agents/translate/frame-parser.ts'
import { errorIn } from '#core/agents/translate/replies/error-shape.ts'
import { endEvents, finishMeaning, finishWordIn } from '#core/agents/translate/replies/finish-words.ts'
import { GrowingText } from '#core/agents/translate/replies/growing-text.ts'
import { isEmpty, type Reading, readMessage } from '#core/agents/translate/replies/message-shape.ts'
import { completionTokensIn, hasUsage, usageIn } from '#core/agents/translate/replies/token-counts.ts'
import { ToolCallPieces } from '#core/agents/translate/replies/tool-call-pieces.ts'
import { textEvent } from '#core/agents/translate/text-event.ts'
import {
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  parseJson,
  textOf,
  toJson,
} from '#core/base/values/json.ts'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'
import { withoutCredentials } from '#core/base/values/without-credentials.ts'

export interface CompletionState extends ReplyState {
  /** Of a stream alone. */
  frames: FrameParser | undefined
  readonly call: AskedFor
  model: string | undefined
  calls: ToolCallPieces | undefined
  /** The index of the choice that is read. */
  choiceIndex: number | undefined
  /** Whether deltas have carried anything; some servers repeat the whole message beside them. */
  fromDelta: boolean
  /** Of a stream of messages, which may be whole each time. */
  messages: GrowingMessages | undefined
  /** Whether a field that is not empty was not understood. */
  isUnread: boolean
  /** Whether a stop sequence may have ended the answer before its first character. */
  atStopSequence: boolean
  /** The tokens of the answer, where the server counts nothing else and they are no usage therefore. */
  completionTokens: number
  /** The citations so far, which some servers repeat in each chunk. */
  citations: string
}

interface GrowingMessages {
  readonly text: GrowingText
  readonly reasoning: GrowingText
}

/** What matters of the request for its reply. */
interface AskedFor {
  readonly logprobs: boolean
  /** Begins the ids of tool calls that the server leaves without. The number of messages differs in each turn. */
  readonly callIds: string
  /** After the result of a tool a model may have nothing to add. */
  readonly afterTool: boolean
}

export function startCompletion({ messages = [], parameters }: AgentCall): CompletionState {
  return {
    frames: undefined,
    call: {
      logprobs: parameters.logprobs === true,
      callIds: `call_${messages.length}`,
      afterTool: AFTER_TOOL.has(messages.at(-1)?.role),
    },
    model: undefined,
    calls: undefined,
    choiceIndex: undefined,
    fromDelta: false,
    messages: undefined,
    isUnread: false,
    atStopSequence: parameters.stop !== undefined && !isEmpty(parameters.stop),
    completionTokens: 0,
    citations: '',
  }
}

const AFTER_TOOL: ReadonlySet<string | undefined> = new Set(['tool', 'function'])

/** Whether an empty reply is complete: true only if nothing was left unread and no completion tokens were counted. */
export function mayBeEmpty(state: CompletionState, { reason, usage, hasReasoning }: EmptyReply): boolean {
  if (reason !== 'stop') return true
  if (state.choiceIndex === undefined || state.isUnread) return false
  const isLost = !hasReasoning && (usage?.completionTokens ?? state.completionTokens) > 1
  return !isLost || state.call.afterTool || state.atStopSequence
}

/**
 * Translates a chunk or a whole completion, which differ in the name of one field.
 *
 * @param failed - the events of an error
 */
export function completion(
  chunk: JsonObject,
  isBody: boolean,
  state: CompletionState,
  failed: (error: JsonObject) => readonly ChatEvent[],
): readonly ChatEvent[] {
  const events: ChatEvent[] = []
  const name = textOf(chunk.model)
  if (name !== undefined && name !== state.model) {
    state.model = name
    events.push({ type: 'model', model: name })
  }
  const choice = answerIn(chunk.choices, state)
  if (choice === undefined) {
    // The end of another choice, which is not read, is not the end of the reply.
    const ends = isEmpty(chunk.choices) ? endsOf(chunk, {}) : []
    if (ends.length > 0) events.push(...heldBack(state), ...ends)
    events.push(...citationsIn(chunk, {}, state), ...tokensIn(state, chunk))
    return events
  }
  const told = choice.error ?? objectOf(choice.delta).error ?? objectOf(choice.message).error
  const error = told === undefined ? undefined : errorIn({ error: told }, true)
  if (error === undefined) readChoice(choice, isBody, state, events)
  const ends = error === undefined ? endsOf(chunk, choice) : failed(error)
  const isFailed = ends[0]?.type === 'error'
  if (ends.length > 0) {
    events.push(...heldBack(state))
    noteStopSequence(choice, state)
    if (!isFailed) events.push(...ends)
  }
  events.push(...citationsIn(chunk, choice, state), ...tokensIn(state, chunk, choice))
  // Last, since nothing is read after a failure, and its tokens count as well.
  if (isFailed) events.push(...ends)
  return events
}

/** What was held back of a stream of messages, to be passed on before its end. */
export function heldBack({ messages }: CompletionState): readonly ChatEvent[] {
  if (messages === undefined) return []
  return (['reasoning', 'text'] as const).flatMap((type) => textEvent(type, messages[type].end()))
}

/** The tokens that are counted beside the choice or in it; Groq counts them in a place of its own. */
function tokensIn(state: CompletionState, chunk: JsonObject, choice: JsonObject = {}): readonly ChatEvent[] {
  const isCounted = chunk.eval_count !== undefined || chunk.completion_tokens !== undefined
  if (!hasUsage(chunk) && !hasUsage(choice) && !isCounted && chunk.x_groq === undefined) return []
  // Ollama, and servers after its model, count beside everything else.
  const frames = [chunk, choice, objectOf(chunk.x_groq), { usage: isCounted ? chunk : undefined }]
  const usage = usageIn(...frames)
  if (usage.length === 0)
    state.completionTokens = Math.max(state.completionTokens, completionTokensIn(...frames))
  return usage
}

/** The end that a chunk reports: in its choice, in what the choice carries, or beside it. */
function endsOf(chunk: JsonObject, choice: JsonObject): readonly ChatEvent[] {
  const { delta, message } = choice
  const word =
    finishWordIn(choice) ??
    textOf(objectOf(delta).finish_reason) ??
    textOf(objectOf(message).finish_reason) ??
    textOf(chunk.finish_reason)
  if (word === undefined) return []
  const native = textOf(choice.native_finish_reason)
  return endEvents(native !== undefined && isBadEnd(native) && finishMeaning(word) === 'stop' ? native : word)
}

/** OpenRouter also passes on the word of the model's own server, even where its own word says less. */
function isBadEnd(word: string): boolean {
  const meaning = finishMeaning(word)
  return meaning === 'failed' || meaning === 'stopped'
}

function readChoice(choice: JsonObject, isBody: boolean, state: CompletionState, events: ChatEvent[]): void {
  const reading: Reading = { events: [], calls: [], isUnread: false }
  const { delta, message } = choice
  const shapes = isBody ? [message, delta, choice] : state.fromDelta ? [delta] : [delta, message, choice]
  let isGrowing = false
  for (const shape of shapes) {
    readMessage(shape, reading)
    if (reading.events.length > 0 || reading.calls.length > 0) {
      isGrowing = shape === message && !isBody
      state.fromDelta ||= shape === delta && reading.events.some(({ type }) => type === 'text')
      break
    }
  }
  state.isUnread ||= reading.isUnread
  events.push(...(isGrowing ? newOf(reading.events, state) : reading.events))
  if (reading.calls.length > 0) {
    state.calls ??= new ToolCallPieces(state.call.callIds)
    const delta = state.calls.write(reading.calls, isGrowing)
    if (delta.length > 0) events.push({ type: 'tool_calls', delta })
  }
  if (state.call.logprobs && isObject(choice.logprobs) && !isEmpty(choice.logprobs))
    events.push({ type: 'logprobs', logprobs: choice.logprobs })
}

function noteStopSequence(choice: JsonObject, state: CompletionState): void {
  state.atStopSequence ||=
    textOf(choice.stop_reason) !== undefined ||
    textOf(choice.matched_stop) !== undefined ||
    choice.finish_reason === 'stop_sequence'
}

function newOf(events: readonly ChatEvent[], state: CompletionState): readonly ChatEvent[] {
  state.messages ??= { text: new GrowingText(), reasoning: new GrowingText() }
  const { messages } = state
  // A message in parts is one text.
  const grown = (['reasoning', 'text'] as const).flatMap((type) => {
    const text = events.map((event) => (event.type === type ? event.text : '')).join('')
    return textEvent(type, messages[type].add(text))
  })
  return [...grown, ...events.filter(({ type }) => type === 'file')]
}

/** Returns the choice that is the answer: of several the first by its index, and in later chunks the same one. */
function answerIn(choices: unknown, state: CompletionState): JsonObject | undefined {
  let answer: JsonObject | undefined
  let lowest = Number.POSITIVE_INFINITY
  for (const choice of isObject(choices) && !isEmpty(choices) ? [choices] : listOf(choices)) {
    if (!isObject(choice)) continue
    // A number, also as text; a choice without one is the first.
    const told = choice.index
    const index = typeof told === 'number' || typeof told === 'string' ? Number(told) || 0 : 0
    if (index >= lowest) continue
    lowest = index
    answer = choice
  }
  if (answer === undefined) return undefined
  state.choiceIndex ??= lowest
  return lowest === state.choiceIndex ? answer : undefined
}

/** What servers tell of their sources: beside the choices (Perplexity and others) or in the message (OpenAI, OpenRouter). */
function citationsIn(chunk: JsonObject, choice: JsonObject, state: CompletionState): readonly ChatEvent[] {
  const { citations, search_results } = chunk
  const { annotations } = objectOf(choice.delta ?? choice.message)
  if (citations === undefined && search_results === undefined && annotations === undefined) return []
  const top = omitUndefined({
    citations: isEmpty(citations) ? undefined : listOf(citations),
    search_results: isEmpty(search_results) ? undefined : listOf(search_results),
  })
  const own = isEmpty(annotations) ? [] : listOf(annotations)
  const text = toJson([top, own]) ?? ''
  if ((isEmpty(top) && own.length === 0) || text === state.citations || text === '') return []
  state.citations = text
  const [shown, annotated] = text.includes('@') ? listOf(parseJson(text, withoutCredentialsIn)) : [top, own]
  const event = { type: 'citations', top: objectOf(shown), annotations: listOf(annotated) } as const
  return [event, sourcesDetail(event.top, event.annotations)]
}

/** A text with spaces is no URL, also where it begins with one. */
function withoutCredentialsIn(_name: string, value: unknown): unknown {
  return typeof value === 'string' && !/\s/.test(value.trim()) ? withoutCredentials(value) : value
}

/** The same as progress, for callers of the other interfaces. */
function sourcesDetail(top: JsonObject, annotations: readonly unknown[]): ChatEvent {
  const found = [
    ...listOf(top.search_results),
    ...annotations.map((each) => objectOf(each).url_citation ?? each),
  ]
  const items = found.length > 0 ? found : listOf(top.citations)
  const list = items.map((item) => (typeof item === 'string' ? { url: item } : item))
  const names = { title: 'title', url: 'url', text: 'content', document: 'id' }
  return detail({ citations: list }, (step) => ({
    type: 'sources',
    data: { items: step.sources('citations', names) },
  }))
}

/** The error of a chunk or a body. Beside choices only what is called an error is one. */
export function errorOf(json: unknown): JsonObject | undefined {
  if (!isObject(json)) return errorIn(json, false)
  const { choices, error, errors, base_resp, header } = json
  const isChunk = choices !== undefined && choices !== null
  // Nearly every chunk ends here.
  const hasPlace =
    error !== undefined || errors !== undefined || base_resp !== undefined || header !== undefined
  if (isChunk && !hasPlace) return undefined
  // A chunk of tokens or of filter results has no choices.
  return errorIn(json, isChunk || isObject(json.usage))
}
