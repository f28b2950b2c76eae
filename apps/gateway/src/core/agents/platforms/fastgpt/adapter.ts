import type { Adapter, AgentCall, ReplyState } from '#core/agents/adapter.ts'
import { oneOf, section } from '#core/agents/entry-schema.ts'
import type { ChatEvent, FinishReason } from '#core/agents/events.ts'
import { textOfAnswer } from '#core/agents/pause.ts'
import { defaultApp } from '#core/agents/translate/default-app.ts'
import { detail } from '#core/agents/translate/detail-event.ts'
import { errorEvents, MALFORMED, unreadableBody } from '#core/agents/translate/failure.ts'
import { filesByUrl } from '#core/agents/translate/files-by-url.ts'
import { FrameParser, isEndMarker } from '#core/agents/translate/frame-parser.ts'
import { helperCall, probeCall } from '#core/agents/translate/helper-call.ts'
import { bearer, jsonPost } from '#core/agents/translate/plain-requests.ts'
import { errorIn } from '#core/agents/translate/replies/error-shape.ts'
import {
  endEvents,
  endFailure,
  finishMeaning,
  finishWordIn,
} from '#core/agents/translate/replies/finish-words.ts'
import { type Reading, readMessage } from '#core/agents/translate/replies/message-shape.ts'
import { usageOf } from '#core/agents/translate/replies/token-counts.ts'
import { WellFormedText } from '#core/agents/translate/replies/well-formed-text.ts'
import { isObject, type JsonObject, listOf, objectOf, textOf } from '#core/base/values/json.ts'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'
import { chatOf } from './chat-of.ts'
import { fastgptConversations } from './conversations.ts'
import { interaction, toolDetail, variables } from './details.ts'
import { fastgptFailure, fastgptRefusal, nodeFailure } from './failures.ts'
import {
  type BadEnd,
  badEndOf,
  countTokens,
  endWordOf,
  type FastGptTokens,
  failureIn,
  hasFailed,
  isAnswering,
  pluginOutputs,
  VISIBLE_FIELDS,
} from './nodes.ts'

/** `filtered` leaves prompts and quoted knowledge out of `detail`. */
const ENTRY = {
  agent: section({
    nodeData: oneOf(['filtered', 'full'], {
      default: 'filtered',
      description: 'Whether `detail: true` shows prompts and quoted knowledge: `filtered` omits them.',
    }),
    api: oneOf(['v1', 'v2'], {
      default: 'v1',
      description:
        'Which of FastGPT’s addresses for chats is used. Both are read alike; `v2` exists since 4.14 and is the one that its documentation names.',
    }),
  }),
  app: section({}),
}

interface FastGptState extends ReplyState {
  readonly frames: FrameParser
  /** Whether an event has come. */
  hasBegun: boolean
  /** Whether the client may see all node data. */
  readonly wholeNodes: boolean
  readonly tokens: FastGptTokens
  /** The finish reason of the last model call if it was cut, because the stop frame says `stop` even then. */
  modelFinishReason: FinishReason | undefined
  /** Whether the client received a text or a question. */
  answered: boolean
  /** What the first failed node says of it. */
  nodeError: unknown
  /** How the node that gave the answer so far has ended, if that was badly. */
  badEnd: BadEnd | undefined
  /** The outputs of a plugin app, which answers with nothing else. */
  outputs: string | undefined
  /** The arguments of tools, which come in pieces. */
  readonly toolTexts: WellFormedText
  ended: boolean
}

/**
 * FastGPT, completions v1. v2 differs only in its detail events, and both kinds are read. Always requests
 * `detail`, because only node data contains the token counts (`usage` is a constant 1/1/1) and the reason why
 * a run ended without text: a failed node does not fail the run. Such a run is an `agent_error` if it has no text, or if the
 * node that gave the text is the one that failed.
 *
 * Not supported: checking credentials without a chat (see `probe`), and input to forms or plugin apps beyond
 * `query` and `variables`. Releases before 2026 do not lock chats, so two parallel calls in one conversation
 * interleave there.
 */
export const fastgpt: Adapter<typeof ENTRY, FastGptState> = {
  platform: 'fastgpt',
  displayName: 'FastGPT',
  entry: ENTRY,
  entryRequires: ['apiKey'],
  apiUrl: (baseUrl) => `${baseUrl.replace(/\/api(?:\/v[12])?$/, '')}/api`,
  appIdHint: 'which is the appId in the address of the page of an app in FastGPT',
  requires: (agent) => (defaultApp(agent) === undefined ? ['app_id'] : []),
  takesAppIds: true,
  features: () => ({ stream: true, detail: true, files: true, conversation: true, usage: true, stop: true }),
  context: () => 'client',
  // FastGPT fetches documents itself, so that data would serve images alone.
  takesDataUrls: false,

  buildRequest(call) {
    return jsonPost(`${call.agent.apiUrl}/${call.agent.options.api}/chat/completions`, bearer(call), {
      ...chatOf(call),
      stream: true,
      detail: true,
      customUid: call.endUser,
      responseChatItemId: call.callId,
      variables: call.variables,
      // Only the last message is sent; FastGPT prepends the stored ones.
      messages: [{ role: 'user', content: contentOf(call) }],
    })
  },

  start: ({ agent, callId, answer }) => ({
    // The rest of a reply is added to the message that has asked, which keeps its id.
    ...omitUndefined({ answerId: answer === undefined ? callId : textOf(answer.pause.resume?.answerId) }),
    frames: new FrameParser(),
    hasBegun: false,
    wholeNodes: agent.options.nodeData === 'full',
    tokens: { prompt: 0, completion: 0, countedNodes: new Set() },
    modelFinishReason: undefined,
    answered: false,
    nodeError: undefined,
    badEnd: undefined,
    outputs: undefined,
    toolTexts: new WellFormedText(),
    ended: false,
  }),

  translate({ event, data }, state) {
    const isFirst = !state.hasBegun
    state.hasBegun = true
    if (data === '') return []
    // Reading continues, because releases before 2026 send the node data after it.
    if (isEndMarker(data)) return end('stop', state)
    const piece = event === undefined || event === 'answer' ? state.frames.piece(data) : undefined
    if (piece !== undefined) return answered([piece], state)
    const json = state.frames.parse(data)
    if (json === undefined)
      return event === 'error' ? errorEvents(fastgptFailure({ message: data }, { isFirst })) : MALFORMED
    const frame = objectOf(json)
    switch (event) {
      case undefined:
      case 'answer':
      case 'fastAnswer':
        return answer(json, isFirst, state)
      case 'flowNodeStatus':
        return [
          detail(frame, (step) => ({
            type: 'node_started',
            name: step.text('name'),
            status: step.text('status'),
            data: {},
          })),
        ]
      case 'flowNodeResponse':
        return nodesFinished([frame], state, false)
      case 'flowResponses':
        return nodesFinished(listOf(json), state, true)
      case 'toolCall':
      case 'toolParams':
      case 'toolResponse':
        return [toolDetail(event, wholeTexts(objectOf(frame.tool), state))]
      case 'updateVariables':
        return [variables({ variables: json }, 'variables')]
      case 'interactive':
        return pause(objectOf(frame.interactive), state)
      case 'workflowDuration':
        return [
          detail(frame, (step) => ({
            type: 'other',
            name: event,
            elapsed_ms: step.milliseconds('durationSeconds'),
            data: {},
          })),
        ]
      // New in 2026 and undocumented: reported as progress without their data.
      case 'plan':
      case 'planStatus':
      case 'stepTitle':
      case 'sandboxStatus':
      case 'skillCall':
        return [detail({}, () => ({ type: 'other', name: event, data: {} }))]
      case 'error':
        return errorEvents(fastgptFailure(frame, { isFirst }))
      default:
        return []
    }
  },

  translateBody(body, state) {
    const choice = listOf(objectOf(body).choices)[0]
    if (choice === undefined) {
      const error = errorIn(body, false) ?? (isObject(body) ? body : undefined)
      return error === undefined
        ? unreadableBody(body)
        : errorEvents(fastgptFailure(error, { isFirst: true }))
    }
    const { error, responseData, newVariables } = objectOf(body)
    const nodes = listOf(responseData)
    const failed = errorIn({ error }, true)
    state.nodeError = failed
    // It is the error of the last node, of which nothing else is known.
    if (failed !== undefined && nodes.length === 0)
      state.badEnd = { meaning: 'failed', code: 'node_failed', error: failed }
    const { badEnd } = state
    const word = finishWordIn(objectOf(choice))
    const hasVariables = Object.keys(objectOf(newVariables)).length > 0
    const said = message(objectOf(objectOf(choice).message), state)
    state.badEnd = badEnd
    return [
      ...(hasVariables ? [variables(objectOf(body), 'newVariables')] : []),
      ...said,
      ...nodesFinished(nodes, state, true),
      // A body is whole, whether or not it says why it ended.
      ...end(word === undefined || finishMeaning(word) === 'none' ? 'stop' : word, state),
    ]
  },

  finish: (state) => (state.ended ? [] : silentFailure(state)),

  toFailure: fastgptRefusal,

  // Releases before 2026 lack this call; they stop the run when the connection closes.
  stop(call) {
    return call.platformConversationId === undefined
      ? undefined
      : helperCall(
          jsonPost(`${call.agent.apiUrl}/v2/chat/stop`, bearer(call), chatOf(call)),
          fastgpt.toFailure,
          (body) => (body.code === 200 ? { ok: undefined } : undefined),
        )
  },

  conversations: () => fastgptConversations,

  // A public endpoint, so the key is not checked. An empty completion would check it, but would run a plugin
  // app.
  probe: (agent) =>
    probeCall(
      { method: 'GET', url: `${agent.apiUrl}/common/system/getInitData`, headers: {} },
      fastgpt.toFailure,
      (body) => body.code === 200,
    ),
}

function contentOf({ query: asked, answer, files }: AgentCall): unknown {
  const query = answer === undefined ? asked : textOfAnswer(answer)
  if (files.length === 0) return query
  const parts = filesByUrl(files).map(({ url, name, kind }) =>
    // FastGPT derives the file type from the name.
    kind === 'image' ? { type: 'image_url', image_url: { url } } : { type: 'file_url', name, url },
  )
  return query.trim() === '' ? parts : [{ type: 'text', text: query }, ...parts]
}

function answer(frame: unknown, isFirst: boolean, state: FastGptState): readonly ChatEvent[] {
  const { choices } = objectOf(frame)
  const error = errorIn(frame, choices !== undefined && choices !== null)
  if (error !== undefined) return errorEvents(fastgptFailure(error, { isFirst }))
  const choice = objectOf(listOf(choices)[0])
  const word = finishWordIn(choice)
  const events = pieces(choice.delta ?? choice.message ?? choice.text, state)
  if (word !== undefined) return [...events, ...end(word, state)]
  state.frames.meant(events, PIECES)
  return events
}

/** Reasoning is none of them, since it is no answer. */
const PIECES = { text: ['choices.0.delta.content'], reasoning: [] }

function pieces(message: unknown, state: FastGptState): readonly ChatEvent[] {
  const { events } = read(message)
  return events.some(({ type }) => type === 'text' || type === 'file') ? answered(events, state) : events
}

/** A text shows that the node before it was not the one that answers. */
function answered(events: readonly ChatEvent[], state: FastGptState): readonly ChatEvent[] {
  state.answered = true
  state.badEnd = undefined
  return events
}

function read(message: unknown): Reading {
  const reading: Reading = { events: [], calls: [], isUnread: false }
  readMessage(message, reading)
  return reading
}

/** Reads a blocking reply: a text, or a list of parts whose kind, in releases of 2026, only the key shows. */
function message(whole: JsonObject, state: FastGptState): readonly ChatEvent[] {
  if (!Array.isArray(whole.content)) return pieces(whole, state)
  return whole.content.flatMap((each) => {
    const { tools, interactive, ...part } = objectOf(each)
    const isNext = state.answered
    const events = pieces({ content: [typeof each === 'string' ? each : part] }, state)
    const at = events.findIndex(({ type }) => type === 'text')
    return [
      ...(isNext && at >= 0 ? events.toSpliced(at, 0, { type: 'text', text: '\n\n' }) : events),
      ...listOf(tools).map((tool) => toolDetail('toolResponse', objectOf(tool))),
      ...(interactive === undefined ? [] : pause(objectOf(interactive), state)),
    ]
  })
}

function pause(interactive: JsonObject, state: FastGptState): readonly ChatEvent[] {
  state.answered = true
  return interaction(interactive, state)
}

function end(word: string, state: FastGptState): readonly ChatEvent[] {
  const ends = endEvents(word)
  if (ends.length === 0) return ends
  state.ended = true
  return conclusion(ends, state)
}

function conclusion(ends: readonly ChatEvent[], state: FastGptState): readonly ChatEvent[] {
  const failed = silentFailure(state)
  if (failed.length > 0) return failed
  const cut: readonly ChatEvent[] =
    state.modelFinishReason === undefined ? [] : [{ type: 'end', reason: state.modelFinishReason }]
  return [...outputsOf(state), ...ends, ...cut]
}

/** The answer of a plugin app, if nothing else was one. */
function outputsOf(state: FastGptState): readonly ChatEvent[] {
  const { outputs, answered } = state
  if (outputs === undefined || answered) return []
  state.answered = true
  return [{ type: 'text', text: outputs }]
}

function silentFailure({ nodeError, answered, badEnd }: FastGptState): readonly ChatEvent[] {
  if (badEnd?.meaning === 'failed') return errorEvents(nodeFailure(badEnd.error, badEnd.code))
  if (badEnd !== undefined) return endFailure(badEnd.meaning, badEnd.code)
  return nodeError !== undefined && !answered ? errorEvents(nodeFailure(nodeError)) : []
}

/** A piece of a tool's arguments may end within a character. */
function wholeTexts(tool: JsonObject, { toolTexts }: FastGptState): JsonObject {
  const { id, params } = tool
  return typeof params === 'string' ? { ...tool, params: toolTexts.join(textOf(id) ?? '', params) } : tool
}

/** @param isList - whether these are all nodes of the run, which may repeat those that came one by one */
function nodesFinished(
  items: readonly unknown[],
  state: FastGptState,
  isList: boolean,
): readonly ChatEvent[] {
  const nodes = items.map(objectOf)
  countTokens(nodes, state.tokens, isList)
  state.nodeError ??= failureIn(nodes)
  const word = nodes
    .filter(isAnswering)
    .map((node) => endWordOf(node))
    .findLast((each) => each !== undefined)
  const meaning = word === undefined ? undefined : finishMeaning(word)
  if (meaning !== undefined)
    state.modelFinishReason = meaning === 'length' || meaning === 'content_filter' ? meaning : undefined
  const answering = nodes.findLast(isAnswering)
  if (answering !== undefined) state.badEnd = badEndOf(answering)
  state.outputs ??= pluginOutputs(nodes)
  return [
    ...nodes.map((node) =>
      detail(node, (step) => {
        const finished = {
          type: 'node_finished' as const,
          id: step.text('nodeId'),
          name: step.text('moduleName'),
          status: hasFailed(node) ? 'failed' : 'succeeded',
          elapsed_ms: step.milliseconds('runningTime'),
          data: { node_type: step.text('moduleType') },
        }
        if (state.wholeNodes) step.keepAll()
        else step.keep(...VISIBLE_FIELDS)
        return finished
      }),
    ),
    ...usageOf({ prompt_tokens: state.tokens.prompt, completion_tokens: state.tokens.completion }),
    // Old releases send node data after the end; the data may change the end's reason or turn it into a
    // failure.
    ...(state.ended ? conclusion([{ type: 'end', reason: 'stop' }], state) : []),
  ]
}
