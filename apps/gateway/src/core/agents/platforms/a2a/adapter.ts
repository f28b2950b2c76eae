import Type from 'typebox'
import type { Adapter, Conclusion, HeaderReader } from '#core/agents/adapter.ts'
import { oneOf, section } from '#core/agents/entry-schema.ts'
import type { ChatEvent, Failure } from '#core/agents/events.ts'
import { errorEvents, failureOf, MALFORMED, unreadableBody } from '#core/agents/translate/failure.ts'
import { isEndMarker } from '#core/agents/translate/frame-parser.ts'
import { helperCall, probeCall } from '#core/agents/translate/helper-call.ts'
import { bearer } from '#core/agents/translate/plain-requests.ts'
import { errorIn } from '#core/agents/translate/replies/error-shape.ts'
import { isObject, type JsonObject, textOf } from '#core/base/values/json.ts'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'
import { type A2aCard, readCard } from './card.ts'
import { a2aConversations } from './conversations.ts'
import { a2aFailure, a2aRefusal, isOver, isUnknownTask } from './failures.ts'
import { messageOf } from './parts.ts'
import { type A2aState, newState, updateEvents } from './task.ts'
import {
  cancelRequest,
  cardOf,
  errorOf,
  getRequest,
  messageRequest,
  stateOf,
  tolerant,
  type Update,
  updateOf,
} from './wire.ts'

const ENTRY = {
  agent: section({
    card: Type.Optional(
      Type.Unsafe<string | JsonObject>({
        anyOf: [{ type: 'string', pattern: '^https?://' }, { type: 'object' }],
        expected: 'an http(s) URL, or the card itself as a mapping',
        perDeployment: true,
        description:
          "Where the agent's card is, or the card itself. In a card that stands here, the URL of an interface may be relative to `baseUrl`.",
        whenAbsent: '`.well-known/agent-card.json` below `baseUrl`',
        examples: ['https://agents.example.com/api/.well-known/support/agent-card.json'],
      }),
    ),
    origins: Type.Optional(
      Type.Array(
        Type.String({ pattern: '^https?://[^/?#@]+/?$', expected: 'the origin of an http(s) URL' }),
        {
          perDeployment: true,
          expected: 'a list of origins',
          description:
            'Origins other than that of `baseUrl` at which the card may say that the agent takes requests. They get the key.',
          whenAbsent: 'none',
          examples: [['https://eu.agents.example.com']],
        },
      ),
    ),
    context: oneOf(['lenient', 'strict'], {
      default: 'lenient',
      description:
        'What becomes of a conversation whose agent answers under another context id than it was asked in: it goes on under the first id, or the agent counts as having lost it (`strict`).',
    }),
  }),
  app: section({}),
}

/** How long the gateway waits for a task to be cancelled: an agent answers when it has stopped, which may be never. */
const CANCEL_MS = 2_000
/** How long it waits for the task that a cut stream has left. */
const GET_MS = 10_000

/**
 * Any agent that speaks A2A: version 1.0 by HTTP+JSON and JSON-RPC, and 0.3 by JSON-RPC, as its card says. The agent issues the ids of
 * conversations. Most agents go on when the connection closes, so a run that is left is always cancelled. Failures come with
 * status 200.
 *
 * Not supported: gRPC, push notifications, extended cards, signatures of cards, credentials other than a bearer token or a key in a
 * header.
 */
export const a2a: Adapter<typeof ENTRY, A2aState, A2aCard> = {
  platform: 'a2a',
  displayName: 'A2A',
  entry: ENTRY,
  entryRequires: [],
  requires: () => [],
  takesAppIds: false,
  features: () => ({ stream: true, detail: true, files: true, conversation: true, usage: false, stop: true }),
  context: () => 'platform',
  takesDataUrls: true,

  card(agent) {
    const { card = `${agent.baseUrl}/.well-known/agent-card.json`, origins = [] } = agent.options
    if (typeof card !== 'string') return readCard(card, agent, origins)
    // The key is for the agent; the card may be anywhere.
    const isOwn = [agent.baseUrl, ...origins].some(
      (each) => URL.parse(each)?.origin === URL.parse(card)?.origin,
    )
    const headers = { 'a2a-version': '1.0', accept: 'application/json', ...(isOwn && bearer({ agent })) }
    return {
      request: { method: 'GET', url: card, headers },
      read: (status, body, header) =>
        status < 400 && isObject(body)
          ? readCard(body, agent, origins)
          : { failure: cardFailure(status, body, header) },
    }
  },

  buildRequest(call) {
    const card = cardOf(call)
    const { answer, platformConversationId } = call
    const resume = answer?.pause.resume
    const contextId = platformConversationId ?? textOf(resume?.contextId)
    const ids = omitUndefined({ contextId, taskId: textOf(resume?.taskId) })
    return messageRequest(call, card, messageOf(call, card.dialect, ids))
  },

  start: newState,

  translate({ event, data }, state) {
    // Proxies in front of an agent add the marker.
    if (data === '' || isEndMarker(data)) return []
    const isWhole = !state.hasBegun
    // VoltAgent begins each frame with a record separator.
    const json = state.frames.parse(data.startsWith('\u001e') ? data.slice(1) : data)
    if (json === undefined) return event === 'error' ? failed({ message: data }, state, isWhole) : MALFORMED
    const frame = [json].flat().find(isObject) ?? {}
    return frameEvents(frame, state, true) ?? unknownFrame(json, event === 'error', state, isWhole)
  },

  translateBody(body, state) {
    if (!isObject(body)) {
      const error = errorIn(body, false)
      return error === undefined ? unreadableBody(body) : failed(error, state, true)
    }
    return frameEvents(body, state, false) ?? failed(errorIn(body, false) ?? body, state, true)
  },

  finish: () => [],

  toFailure: (status, body, header, state) => a2aRefusal(status, body, header, state?.isAnswer === true),

  /** A stream may end before it has named the last state of its task, and a reply without a stream comes at once. The task itself names it. */
  conclude(call, state) {
    const { runId, isOver } = state
    if (isOver || runId === undefined) return undefined
    return {
      ...helperCall<Conclusion>(getRequest(call, cardOf(call), runId), a2a.toFailure, (body) => {
        const error = errorOf(body)
        const update = error === undefined ? updateOf(body) : undefined
        const isGone = error === undefined ? isStopped(update) : isUnknownTask(error)
        // Mastra breaks a stream off before its first frame where the task of an answer has ended, or is not known.
        if (state.isAnswer && !state.hasBegun && isGone)
          return { ok: errorEvents(failureOf('pause_over', { code: 'task_over' })) }
        // Read only when it is over, so that what has come of it until then is not taken for said.
        if (isWorking(update)) return { ok: 'working' }
        const events = update === undefined ? [] : updateEvents(update, state, false)
        return { ok: events.some(isEnd) ? events : [] }
      }),
      withinMs: GET_MS,
    }
  },

  stop(call, { runId }) {
    if (runId === undefined) return undefined
    const accept = (body: JsonObject) => {
      const error = errorOf(body)
      return error === undefined || isOver(error) ? { ok: undefined } : undefined
    }
    return {
      ...tolerant(helperCall(cancelRequest(call, cardOf(call), runId), a2a.toFailure, accept), accept),
      withinMs: CANCEL_MS,
    }
  },

  conversations: () => a2aConversations,

  // No agent has such a task, and each checks the key before it says so.
  probe(agent, card) {
    const accept = (body: JsonObject) => {
      const error = errorOf(body)
      return error === undefined || isUnknownTask(error)
    }
    const request = getRequest({ agent }, cardOf({ card }), 'trunkline-probe')
    const call = probeCall(request, a2a.toFailure, accept)
    return tolerant(call, (body) => (accept(body) ? { ok: 'available' } : undefined))
  },
}

function frameEvents(
  frame: JsonObject,
  state: A2aState,
  isStream: boolean,
): readonly ChatEvent[] | undefined {
  const isWhole = !state.hasBegun
  const error = errorOf(frame)
  if (error !== undefined) return failed(error, state, isWhole)
  const update = updateOf(frame)
  return update === undefined ? undefined : updateEvents(update, state, isStream)
}

/** Events of later versions are no failure. */
function unknownFrame(
  json: unknown,
  isError: boolean,
  state: A2aState,
  isWhole: boolean,
): readonly ChatEvent[] {
  const error = errorIn(json, false) ?? (isError && isObject(json) ? json : undefined)
  return error === undefined ? [] : failed(error, state, isWhole)
}

function failed(error: JsonObject, { isAnswer }: A2aState, isWhole: boolean): readonly ChatEvent[] {
  return errorEvents(a2aFailure(error, { isAnswer, isWhole }))
}

function isWorking(update: Update | undefined): boolean {
  const state = update?.kind === 'task' ? stateOf(update.task.status) : ''
  return state === 'submitted' || state === 'working'
}

/** Whether a task has ended without an answer. */
function isStopped(update: Update | undefined): boolean {
  return (
    update?.kind === 'task' &&
    ['canceled', 'cancelled', 'failed', 'rejected'].includes(stateOf(update.task.status))
  )
}

/** A page in place of a card is one of the wrong address. */
function cardFailure(status: number, body: unknown, header: HeaderReader): Failure {
  if (status >= 400) return a2aRefusal(status, body, header, false)
  return { ...failureOf('agent_misconfigured', { status }), note: 'what was sent is no JSON object' }
}

function isEnd({ type }: ChatEvent): boolean {
  return type === 'end' || type === 'error'
}
