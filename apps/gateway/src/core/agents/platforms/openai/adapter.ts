import Type from 'typebox'
import type { Adapter, AgentCall, HeaderReader } from '#core/agents/adapter.ts'
import { section, text } from '#core/agents/entry-schema.ts'
import type { ChatEvent, Failure } from '#core/agents/events.ts'
import { agentUrl } from '#core/agents/translate/agent-url.ts'
import { bearer } from '#core/agents/translate/bearer.ts'
import { EarlyRefusals } from '#core/agents/translate/early-refusals.ts'
import {
  errorEvents,
  failureOf,
  failureOfPage,
  MALFORMED,
  reasonOfStatus,
  unreadableBody,
} from '#core/agents/translate/failure.ts'
import { probeCall } from '#core/agents/translate/helper-call.ts'
import { jsonPost } from '#core/agents/translate/json-post.ts'
import { errorIn } from '#core/agents/translate/replies/error-shape.ts'
import { userMessage } from '#core/agents/translate/user-message.ts'
import type { ErrorReason } from '#core/errors.ts'
import { isObject, type JsonObject, objectOf, textOf } from '#core/values/json.ts'
import { type CompletionState, completion, errorOf, mayBeEmpty, startCompletion } from './completion.ts'

/** The operator sets the models; clients choose among the configured ones. */
const ENTRY = {
  agent: section({
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
  requires: () => [],
  takesAppIds: false,
  features: () => ({ stream: true, detail: true, files: true, conversation: true, usage: true, stop: true }),
  context: () => 'gateway',
  takesDataUrls: true,
  mayBeEmpty,

  buildRequest(call) {
    const messages = call.messages ?? [userMessage(call.query, call.files)]
    return jsonPost(openaiUrl(call, '/chat/completions'), bearer(call), {
      ...call.parameters,
      model: modelOf(call),
      messages: messages.map(({ role, content, extra }) => ({ ...extra, role, content })),
      stream: call.stream,
      stream_options: call.stream ? { include_usage: true } : undefined,
      user: call.endUser,
    })
  },

  modelOf,

  start: startCompletion,

  translate({ event, data }, state) {
    const piece = event === 'error' ? undefined : state.frames.plainText(data)
    if (piece !== undefined) return [{ type: 'text', text: piece }]
    if (data.startsWith('[DONE]')) return [{ type: 'end', reason: 'stop' }]
    const isError = event === 'error'
    if (data === '') return isError ? failed({}) : []
    const json = state.frames.parse(data)
    if (json === undefined) return isError ? failed({ message: data }) : MALFORMED
    const chunk = objectOf(json)
    const error = isError ? (errorIn(json, false) ?? chunk) : errorOf(json)
    if (error !== undefined) return failed(error)
    const events = completion(chunk, false, state, failed)
    if (events.length === 1 && events[0]?.type === 'text') state.frames.isPlain('choices.0.delta.content')
    return events
  },

  translateBody(body, state) {
    const error = errorOf(body)
    if (error !== undefined) return failed(error)
    if (!isObject(body)) return unreadableBody(body)
    if (!('choices' in body)) return failed(body)
    const events = completion(body, true, state, failed)
    // A body is whole, whether or not it says why it ended.
    const hasEnd = events.some(({ type }) => type === 'end' || type === 'error')
    return hasEnd ? events : [...events, { type: 'end', reason: 'stop' }]
  },

  finish: () => [],

  toFailure: (status, body, header) =>
    isObject(body)
      ? errorFailure(errorIn(body, false) ?? body, { status, header })
      : failureOfPage(status, header),

  probe: (agent) =>
    probeCall(
      { method: 'GET', url: openaiUrl({ agent }, '/models'), headers: bearer({ agent }) },
      openai.toFailure,
      (body) => Array.isArray(body.data),
    ),
}

function modelOf({ agent, app }: Pick<AgentCall<typeof ENTRY>, 'agent' | 'app'>): string | undefined {
  return app?.options.model ?? agent.options.model
}

function openaiUrl({ agent }: Pick<AgentCall, 'agent'>, path: string): string {
  return agentUrl(agent.baseUrl, /\/chat\/completions$/, path)
}

function failed(error: JsonObject): readonly ChatEvent[] {
  return errorEvents(errorFailure(error, {}))
}

/** Matched against `code` and `type`, the most specific first, because servers use different words. */
const REASON_BY_WORD: readonly (readonly [RegExp, ErrorReason])[] = [
  [/content_?filter|content_policy|moderation|ResponsibleAI/i, 'content_filtered'],
  [/context_length|string_above_max/i, 'agent_rejected_input'],
  [/insufficient.*quota|quota_exceeded|billing|insufficient_balance/i, 'agent_quota'],
  [/invalid_api_key|api_?key|authentication|unauthorized/i, 'agent_credentials'],
  [/model_not_found|permission|NotFoundError|not_found_error/i, 'agent_misconfigured'],
  [/rate_?limit|overloaded/i, 'agent_rate_limited'],
]

/** Known by the status, which an error within a stream does not have. */
const EARLY = new EarlyRefusals([
  { status: 401, code: 'invalid_api_key' },
  { status: 404, code: 'not_found_error' },
  { status: 400, text: /^This model's maximum context length/ },
])

function errorFailure(error: JsonObject, reply: { status?: number; header?: HeaderReader }): Failure {
  const { code, type, message } = error
  const words = [code, type].filter((word) => typeof word === 'string')
  const reason =
    REASON_BY_WORD.find(([pattern]) => words.some((word) => pattern.test(word)))?.[1] ??
    reasonOfStatus(reply.status ?? (typeof code === 'number' ? code : statusOfType(type)))
  const facts = {
    ...reply,
    code: textOf(code) ?? (typeof code === 'number' ? code : type),
    message: textOf(message) ?? error.detail,
  }
  const logId = reply.header?.('x-request-id')
  return failureOf(reason, { ...facts, logId, turn: EARLY.turnOf(facts) })
}

/** Derives a status from the error's type, because an error in a stream has no HTTP status. */
function statusOfType(type: unknown): number {
  return type === 'invalid_request_error' || type === 'BadRequestError' ? 400 : 500
}
