import { hash } from 'node:crypto'
import type { ReplyState } from '#core/agents/adapter.ts'
import type { ChatEvent, Failure } from '#core/agents/events.ts'
import { detail } from '#core/agents/translate/detail-event.ts'
import { failureOf } from '#core/agents/translate/failure.ts'
import type { FrameParser } from '#core/agents/translate/frame-parser.ts'
import { platformIdOf } from '#core/agents/translate/platform-id.ts'
import { finishWordIn } from '#core/agents/translate/replies/finish-words.ts'
import { pauseEvents } from '#core/agents/translate/replies/pause-events.ts'
import { usageOf } from '#core/agents/translate/replies/token-counts.ts'
import { textEvent } from '#core/agents/translate/text-event.ts'
import { isObject, type JsonObject, listOf, objectOf, textOf, toJson } from '#core/base/values/json.ts'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'
import { BREAKPOINT, interruptsById, pauseOf } from './interrupts.ts'

export interface LangGraphState extends ReplyState {
  readonly frames: FrameParser
  readonly isAnswer: boolean
  /** Whether the thread has a turn, as far as the gateway knows. */
  readonly expectsThread: boolean
  /** The refusal of which it is not known yet whether the server lacks the thread. */
  refused?: Failure
  /** The node whose messages are the answer; undefined where those of all nodes are. */
  readonly node: string | undefined
  /** The message that is the answer so far, with its text. */
  message: { readonly id: string; text: string } | undefined
  /** The messages before that one. Where nodes run at the same time, their pieces may still come. */
  readonly replaced: Set<string>
  /** The model's word for the end of that message, which the server in Python passes on. */
  finishWord: string | undefined
  hasText: boolean
  /** Whether the graph has done anything. */
  hasWorked: boolean
  hasFailed: boolean
  hasFile: boolean
  /** The last message that the graph keeps and that may be the answer: it decides, whatever models have said beside it. */
  kept: { readonly id: string; readonly text: string } | undefined
  /** The node of the graph that has sent the last piece, until what it has changed is known. */
  openNode: string | undefined
  /** Whether an interrupt has asked something. */
  hasPause: boolean
  /** The status with which the run has ended, once it is known and what is missing is read from the thread. */
  status: string | undefined
  /** The tokens of each message, which is sent more than once. */
  readonly usage: Map<string, readonly [input: number, output: number]>
  /** Those of all messages together. */
  readonly tokens: { input: number; output: number }
  /** Tools that the model has called and that have given no result. */
  readonly openTools: Set<string>
  /** Tool calls, results and interrupts that were reported, since a graph repeats those of its sub-graphs. */
  readonly reported: Set<string>
}

/** A run with more messages than this counts the tokens of the first ones, and reports no step twice among so many. */
const REMEMBERED_MAX = 10_000

/** A piece of a message, with what is known of the node that has made it: `[message, metadata]`. */
export function pieceEvents(
  frame: unknown,
  path: readonly string[],
  state: LangGraphState,
): readonly ChatEvent[] {
  const [chunk, metadata] = listOf(frame).map(objectOf)
  if (chunk === undefined || !isOfModel(chunk)) return []
  state.hasWorked = true
  const node = textOf(metadata?.langgraph_node)
  const events = isAnswering(node, path, state) ? answerEvents(chunk, state) : []
  if (events.length > 0) state.openNode = path[0]?.split(':', 1)[0] ?? node
  return [...events, ...usageEvents(chunk, state)]
}

/** In the form of the server in JavaScript, `ai`, or of the one in Python, `AIMessageChunk`. */
export function isOfModel({ type, role }: JsonObject): boolean {
  const word = textOf(type) ?? textOf(role)
  return word === 'ai' || word === 'assistant' || word?.startsWith('AIMessage') === true
}

/** A sub-graph is a node of the graph that calls it; the path to it consists of steps such as `node:task`. */
function isAnswering(
  node: string | undefined,
  path: readonly string[],
  { node: wanted }: LangGraphState,
): boolean {
  if (wanted === undefined || node === wanted) return true
  return path.some((step) => step.split(':', 1)[0] === wanted)
}

/** The last message is the answer, so another one takes the place of what has come. */
function answerEvents(chunk: JsonObject, state: LangGraphState): readonly ChatEvent[] {
  const id = textOf(chunk.id) ?? ''
  if (state.replaced.has(id)) return []
  const { reasoning_content } = objectOf(chunk.additional_kwargs)
  const word = finishWordIn(objectOf(chunk.response_metadata))
  if (word !== undefined) state.finishWord = word
  const events = [...textEvent('reasoning', reasoning_content), ...textEvent('text', contentOf(chunk))]
  const text = events.map((event) => (event.type === 'text' ? event.text : '')).join('')
  state.hasFile ||= events.some(({ type }) => type === 'file')
  if (text === '') return events
  const { message } = state
  if (message?.id === id) {
    message.text += text
    return events
  }
  state.message = { id, text }
  learnAnswer(id, state)
  state.finishWord = word
  state.hasText = true
  if (message === undefined) return events
  // A node that returns the text of its model as a message of its own says nothing new.
  if (message.text === text) return events.filter(({ type }) => type !== 'text')
  if (state.replaced.size < REMEMBERED_MAX) state.replaced.add(message.id)
  return replaced(events)
}

function learnAnswer(id: string, state: LangGraphState): void {
  const answerId = platformIdOf(id)
  if (answerId !== undefined) state.answerId = answerId
}

/** The content of a message. LangChain's own blocks have the bytes of a file apart from its type. */
export function contentOf({ content }: JsonObject): unknown {
  if (!Array.isArray(content)) return content
  return content.map((part) => {
    const { data, mimeType, mime_type, metadata, ...rest } = objectOf(part)
    const mediaType = textOf(mimeType) ?? textOf(mime_type)
    const { filename } = objectOf(metadata)
    const named = { ...rest, ...omitUndefined({ filename: textOf(filename), mime_type: mediaType }) }
    if (!isObject(part) || (mediaType === undefined && data === undefined)) return part
    return typeof data === 'string' ? { ...named, url: `data:${mediaType ?? ''};base64,${data}` } : named
  })
}

/** The same events, of which the first text withdraws what came before. */
function replaced(events: readonly ChatEvent[]): readonly ChatEvent[] {
  const first = events.findIndex(({ type }) => type === 'text')
  return events.map((event, index) =>
    index === first && event.type === 'text' ? { type: 'replace', text: event.text } : event,
  )
}

/** The tokens of all messages together, each of which is counted once. */
function usageEvents(message: JsonObject, { usage, tokens }: LangGraphState): readonly ChatEvent[] {
  const id = textOf(message.id)
  if (id === undefined || !isObject(message.usage_metadata)) return []
  const [counted] = usageOf(message.usage_metadata)
  if (counted?.type !== 'usage' || (usage.size >= REMEMBERED_MAX && !usage.has(id))) return []
  const { promptTokens, completionTokens } = counted.usage
  const [input, output] = usage.get(id) ?? [0, 0]
  if (input === promptTokens && output === completionTokens) return []
  usage.set(id, [promptTokens, completionTokens])
  tokens.input += promptTokens - input
  tokens.output += completionTokens - output
  // Of one message more may be known than these two counts.
  return usage.size === 1 ? [counted] : usageOf({ input_tokens: tokens.input, output_tokens: tokens.output })
}

/** What the nodes of the graph have changed, by their names; beside it the interrupts at which the run waits. */
export function updateEvents(
  frame: JsonObject,
  path: readonly string[],
  state: LangGraphState,
): readonly ChatEvent[] {
  state.hasWorked = true
  return Object.entries(frame).flatMap(([node, update]) => {
    if (node === '__interrupt__') return interruptEvents(listOf(update), state)
    // Other names of this form are what the server says of the update itself.
    if (node.startsWith('__')) return []
    if (path.length === 0 && node === state.openNode) state.openNode = undefined
    return nodeEvents(node, update, path, state)
  })
}

function nodeEvents(
  node: string,
  update: unknown,
  path: readonly string[],
  state: LangGraphState,
): readonly ChatEvent[] {
  const updates = (Array.isArray(update) ? update : [update]).map(objectOf)
  const messages = updates
    .flatMap(({ messages }) => (Array.isArray(messages) ? messages : [messages]))
    .filter(isObject)
  const finished = detail({ node }, (step) => ({ type: 'node_finished', name: step.text('node'), data: {} }))
  const steps = messages.flatMap((message) => [...stepEvents(message, state), ...usageEvents(message, state)])
  const answer =
    path.length === 0 && isAnswering(node, path, state) ? messages.findLast(isOfModel) : undefined
  return [finished, ...steps, ...(answer === undefined ? [] : finalEvents(answer, state))]
}

/**
 * Reads a message of the graph's state. It shows whether a node has changed the text after its pieces were sent, and it is the only
 * source of a text that was never sent in pieces.
 */
function finalEvents(message: JsonObject, state: LangGraphState): readonly ChatEvent[] {
  const text = textEvent('text', contentOf(message))
    .map((event) => (event.type === 'text' ? event.text : ''))
    .join('')
  const id = textOf(message.id) ?? ''
  if (text === '') return []
  state.kept = { id, text }
  learnAnswer(id, state)
  const { message: known } = state
  if (known === undefined || known.id !== id || known.text === text) return []
  const rest = text.startsWith(known.text) ? text.slice(known.text.length) : undefined
  known.text = text
  return [rest === undefined ? { type: 'replace', text } : { type: 'text', text: rest }]
}

/** What the answer that the graph keeps adds to what has come: all of it if no piece of it was sent, or if others were. */
export function missingText({ hasText, hasFile, kept, message }: LangGraphState): readonly ChatEvent[] {
  if (kept === undefined || message?.text === kept.text) return []
  if (hasText) return [{ type: 'replace', text: kept.text }]
  return hasFile ? [] : [{ type: 'text', text: kept.text }]
}

/** Whether a stream that has ended well has lost something: what the answering node has changed, or everything. */
export function isCut({ hasText, hasFile, kept, openNode }: LangGraphState): boolean {
  return openNode !== undefined || (!hasText && !hasFile && kept === undefined)
}

/** Reads the answer that the state of a thread has after the last question. */
export function stateEvents(messages: readonly unknown[], state: LangGraphState): readonly ChatEvent[] {
  const said = messages.map(objectOf)
  const answers = said.slice(said.findLastIndex(isOfUser) + 1).filter(isOfModel)
  const changed = answers.flatMap((answer) => finalEvents(answer, state))
  return [...changed, ...missingText(state)]
}

export function isOfUser({ type, role }: JsonObject): boolean {
  const word = textOf(type) ?? textOf(role)
  return word === 'human' || word === 'user' || word?.startsWith('HumanMessage') === true
}

function stepEvents(message: JsonObject, state: LangGraphState): readonly ChatEvent[] {
  if (message.type === 'tool' || message.type === 'ToolMessage') return toolResult(message, state)
  if (!isOfModel(message)) return []
  return listOf(message.tool_calls).flatMap((each) => {
    const call = objectOf(each)
    const id = textOf(call.id) ?? ''
    if (state.openTools.size < REMEMBERED_MAX) state.openTools.add(id)
    if (isReported(`call ${textOf(call.id) ?? toJson(call)}`, state)) return []
    return [
      detail(call, (step) => ({
        type: 'tool_call' as const,
        id: step.text('id'),
        name: step.text('name'),
        data: { arguments: step.jsonText('args') },
      })),
    ]
  })
}

function toolResult(message: JsonObject, state: LangGraphState): readonly ChatEvent[] {
  state.openTools.delete(textOf(message.tool_call_id) ?? '')
  if (isReported(`result ${textOf(message.tool_call_id) ?? textOf(message.id)}`, state)) return []
  const output = textOf(message.content) ?? toJson(message.content) ?? ''
  return [
    detail({ ...message, output }, (step) => ({
      type: 'tool_result' as const,
      id: step.text('tool_call_id'),
      name: step.text('name'),
      status: step.text('status'),
      data: { output: step.text('output') ?? '' },
    })),
  ]
}

/** What the run waits for. An empty list is a breakpoint that the graph was made with. */
export function interruptEvents(interrupts: readonly unknown[], state: LangGraphState): readonly ChatEvent[] {
  const fresh = interruptsById(interrupts).filter(
    ({ id, values }) => !isReported(`interrupt ${id ?? toJson(values)}`, state),
  )
  const pauses =
    interrupts.length === 0 && !isReported('breakpoint', state) ? [BREAKPOINT] : fresh.map(pauseOf)
  state.hasPause ||= pauses.length > 0
  // What was said before the question, by a model whose text comes in one piece.
  const said = state.hasText ? [] : missingText(state)
  state.hasText ||= said.length > 0
  const asked = pauses.flatMap((pause, index) =>
    pauseEvents(
      pause,
      detail({ question: pause.question, form: fresh[index]?.values[0] }, (step) => ({
        type: 'interaction',
        data: {
          question: step.text('question'),
          options: pause.options.map(({ title }) => title),
          form: step.json('form'),
        },
      })),
    ),
  )
  return pauses.length > 0 ? [...said, ...asked] : []
}

function isReported(step: string, { reported }: LangGraphState): boolean {
  // What has no id is known by its content, which may be long.
  const key = step.length > 128 ? hash('sha256', step) : step
  if (reported.has(key)) return true
  if (reported.size < REMEMBERED_MAX) reported.add(key)
  return false
}

/** A graph that ends with the call of a tool leaves it to its client to run that. */
export function wantsTool({ hasText, hasFile, openTools }: LangGraphState): boolean {
  return !hasText && !hasFile && openTools.size > 0
}

/** The answer to a pause that the graph has not taken: the run did nothing, because nothing waited. */
export const OVER = { type: 'error', failure: failureOf('pause_over', { code: 'nothing_resumed' }) } as const
