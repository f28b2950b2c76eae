import Type from 'typebox'
import type { Adapter, AgentCall, HeaderReader } from '#core/agents/adapter.ts'
import { section, text } from '#core/agents/entry-schema.ts'
import type { ChatEvent, Failure } from '#core/agents/events.ts'
import { EarlyRefusals } from '#core/agents/translate/early-refusals.ts'
import {
  errorEvents,
  failureOf,
  MALFORMED,
  reasonOfStatus,
  refusalReader,
  statusOfError,
  unreadableBody,
} from '#core/agents/translate/failure.ts'
import { FrameParser, isEndMarker } from '#core/agents/translate/frame-parser.ts'
import { probeCall } from '#core/agents/translate/helper-call.ts'
import { bearer, jsonPost } from '#core/agents/translate/plain-requests.ts'
import { messageIn } from '#core/agents/translate/refusals/error-words.ts'
import { refusedFields } from '#core/agents/translate/refusals/refused-fields.ts'
import { reasonInWords } from '#core/agents/translate/refusals/whose-fault.ts'
import { errorIn } from '#core/agents/translate/replies/error-shape.ts'
import { userMessage } from '#core/agents/translate/user-message.ts'
import { isObject, type JsonObject, objectOf, textOf } from '#core/base/values/json.ts'
import {
  type CompletionState,
  completion,
  errorOf,
  heldBack,
  mayBeEmpty,
  startCompletion,
} from './completion.ts'

/** The operator sets the models; clients choose among the configured ones. */
const ENTRY = {
  agent: section({
    omit: Type.Optional(
      Type.Array(Type.Enum(['stream_options', 'user']), {
        uniqueItems: true,
        expected: 'a list of `stream_options` and `user`',
        description:
          'Fields that the gateway adds to requests and that the server refuses. Without this setting each of them costs one refused request an hour. A field that the caller has sent itself is sent in any case.',
        whenAbsent: 'both are sent',
        examples: [['stream_options']],
      }),
    ),
    model: Type.Optional(
      text({ perDeployment: true, description: 'The model to ask for.', examples: ['Qwen/Qwen3-32B'] }),
    ),
  }),
  app: section({
    model: Type.Optional(
      text({
        perDeployment: true,
        description: 'The model to ask for when a client chooses this app.',
        whenAbsent: "the agent's `model`",
      }),
    ),
  }),
}

/**
 * Any server with OpenAI's chat completions API: OpenAI, vLLM, Ollama, one-api and proxies in front of them.
 * The server keeps no context, and closing the connection stops a run. Requests a stream only if the client
 * does, because these servers support both equally well. Only the first choice is read. Failures that a
 * server reports as content with an ordinary stop cannot be detected.
 */
export const openai: Adapter<typeof ENTRY, CompletionState> = {
  platform: 'openai',
  displayName: 'OpenAI',
  entry: ENTRY,
  entryRequires: ['model'],
  apiUrl: (baseUrl) => baseUrl.replace(/\/chat\/completions$/, ''),
  requires: () => [],
  takesAppIds: false,
  features: () => ({ stream: true, detail: true, files: true, conversation: true, usage: true, stop: true }),
  context: () => 'gateway',
  takesDataUrls: true,
  mayBeEmpty,

  buildRequest(call) {
    const { stream, sentFields = [], messages = [userMessage(call.query, call.files)] } = call
    const addedFields = fieldsToAdd(call)
    const fields = [...sentFields, ...addedFields]
    const request = jsonPost(`${call.agent.apiUrl}/chat/completions`, bearer(call), {
      ...call.parameters,
      model: modelOf(call),
      messages: messages.map(({ role, content, extra }) => ({ ...extra, role, content })),
      stream,
      stream_options: stream && fields.includes('stream_options') ? { include_usage: true } : undefined,
      user: fields.includes('user') ? call.endUser : undefined,
    })
    return { ...request, addedFields }
  },

  modelOf,

  start: startCompletion,

  translate({ event, data }, state) {
    state.frames ??= new FrameParser()
    const { frames } = state
    const piece = event === 'error' ? undefined : frames.piece(data)
    if (piece !== undefined) return [piece]
    if (isEndMarker(data)) return [...heldBack(state), { type: 'end', reason: 'stop' }]
    const isError = event === 'error'
    if (data === '') return isError ? failed({}) : []
    const json = frames.parse(data)
    if (json === undefined) return isError ? failed({ message: data }) : MALFORMED
    const chunk = objectOf(json)
    const error = isError ? (errorIn(json, false) ?? chunk) : errorOf(json)
    if (error !== undefined) return failed(error)
    const events = completion(chunk, false, state, failed)
    frames.meant(events, PIECES)
    return events
  },

  translateBody(body, state) {
    const error = errorOf(body)
    if (error !== undefined) return failed(error)
    if (!isObject(body)) return unreadableBody(body)
    if (!('choices' in body)) return failed(body)
    // A body is whole, whether or not it says why it ended; of several ends the worse one counts.
    return [...completion(body, true, state, failed), { type: 'end', reason: 'stop' }]
  },

  finish: heldBack,

  toFailure: refusalReader((body, reply) => errorFailure(refusalIn(body), reply)),

  probe: (agent) =>
    probeCall(
      { method: 'GET', url: `${agent.apiUrl}/models`, headers: bearer({ agent }) },
      openai.toFailure,
      (body) => Array.isArray(body.data),
    ),
}

const PIECES = {
  text: ['choices.0.delta.content'],
  reasoning: ['choices.0.delta.reasoning_content', 'choices.0.delta.reasoning'],
}

/** Without the first a stream has no token counts; by the second the server's operator distinguishes the end users. */
const ADDED_FIELDS = ['stream_options', 'user'] as const
const ADDED_TO_BODIES = ['user'] as const

/** Those that the caller has sent are none of them, whatever `omit` says. */
function fieldsToAdd({
  agent,
  stream,
  sentFields,
  refusedFields,
}: AgentCall<typeof ENTRY>): readonly string[] {
  const { omit } = agent.options
  const added: string[] = []
  for (const field of stream ? ADDED_FIELDS : ADDED_TO_BODIES)
    if (!sentFields?.includes(field) && !omit?.includes(field) && !refusedFields?.includes(field))
      added.push(field)
  return added
}

function modelOf({ agent, app }: Pick<AgentCall<typeof ENTRY>, 'agent' | 'app'>): string | undefined {
  return app?.options.model ?? agent.options.model
}

/** The whole object where its words are read as they are, since a validator names the fields beside them. */
function refusalIn(body: JsonObject): JsonObject {
  if (isObject(body.error)) return body.error
  return messageIn(body) === undefined ? (errorIn(body, false) ?? body) : body
}

function failed(error: JsonObject): readonly ChatEvent[] {
  return errorEvents(errorFailure(error, {}))
}

/** Known by the status, which an error within a stream does not have. */
const EARLY = new EarlyRefusals([
  { status: 401, code: 'invalid_api_key' },
  { status: 404, code: 'not_found_error' },
  { status: 400, text: /^This model's maximum context length/ },
])

function errorFailure(error: JsonObject, reply: { status?: number; header?: HeaderReader }): Failure {
  const { code, type } = error
  const reason = reasonInWords(error, reply.status) ?? reasonOfStatus(statusOf(error, reply.status))
  const facts = {
    ...reply,
    code: textOf(code) ?? (typeof code === 'number' ? code : type),
    message: messageIn(error),
    error,
  }
  const logId = reply.header?.('x-request-id')
  const refused = REFUSES_FIELDS.has(reply.status) ? refusedFields(error, ADDED_FIELDS) : []
  if (refused.length === 0) return failureOf(reason, { ...facts, logId, turn: EARLY.turnOf(facts) })
  return { ...failureOf(reason, { ...facts, logId, turn: 'none' }), refusedFields: refused }
}

/** With these, servers refuse a request by its form, before they do anything with it. */
const REFUSES_FIELDS: ReadonlySet<number | undefined> = new Set([400, 422])

/** An error within a stream has no HTTP status; some servers put it into the code. */
function statusOf({ code, type }: JsonObject, status: number | undefined): number {
  const told = statusOfError(code, status)
  if (told !== undefined && told >= 400) return told
  return type === 'invalid_request_error' || type === 'BadRequestError' ? 400 : 500
}
