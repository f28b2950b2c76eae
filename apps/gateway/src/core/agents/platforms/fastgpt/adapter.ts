import type { Adapter, AgentCall, ReplyState } from '#core/agents/adapter.ts'
import { oneOf, section } from '#core/agents/entry-schema.ts'
import type { ChatEvent, FinishReason } from '#core/agents/events.ts'
import { agentUrl } from '#core/agents/translate/agent-url.ts'
import { bearer } from '#core/agents/translate/bearer.ts'
import { defaultApp } from '#core/agents/translate/default-app.ts'
import { detail } from '#core/agents/translate/detail-event.ts'
import { errorEvents, MALFORMED, refusalReader, unreadableBody } from '#core/agents/translate/failure.ts'
import { filesByUrl } from '#core/agents/translate/files-by-url.ts'
import { finishReason } from '#core/agents/translate/finish-reason.ts'
import { FrameParser } from '#core/agents/translate/frame-parser.ts'
import { helperCall, probeCall } from '#core/agents/translate/helper-call.ts'
import { jsonPost } from '#core/agents/translate/json-post.ts'
import { textEvent } from '#core/agents/translate/text-event.ts'
import { usage } from '#core/agents/translate/usage-event.ts'
import { isObject, type JsonObject, listOf, objectOf, textOf } from '#core/values/json.ts'
import { omitUndefined } from '#core/values/omit-undefined.ts'
import { fastgptFailure } from './failures.ts'
import { countTokens, type FastGptTokens, hasFailed, VISIBLE_FIELDS } from './nodes.ts'

/** `filtered` leaves prompts and quoted knowledge out of `detail`. */
const ENTRY = {
  agent: section({
    nodeData: oneOf(['filtered', 'full'], {
      default: 'filtered',
      description: 'Whether `detail: true` shows prompts and quoted knowledge: `filtered` omits them.',
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
  nodeFailed: boolean
  ended: boolean
}

/**
 * FastGPT, completions v1. v2 differs only in its detail events, and both kinds are read. Always requests
 * `detail`, because only node data contains the token counts (`usage` is a constant 1/1/1) and the reason why
 * a run ended without text: a failed node does not fail the run. Such a run succeeds if it has text;
 * otherwise it is an `agent_error`.
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
  requires: (agent) => (defaultApp(agent) === undefined ? ['app_id'] : []),
  takesAppIds: true,
  features: () => ({ stream: true, detail: true, files: true, conversation: true, usage: true, stop: true }),
  context: () => 'client',
  // FastGPT fetches documents itself, so that data would serve images alone.
  takesDataUrls: false,
  emptyReplyIsError: true,

  buildRequest(call) {
    return jsonPost(fastgptUrl(call, '/v1/chat/completions'), bearer(call), {
      ...runOf(call),
      stream: true,
      detail: true,
      customUid: call.endUser,
      variables: call.variables,
      // Only the last message is sent; FastGPT prepends the stored ones.
      messages: [{ role: 'user', content: contentOf(call) }],
    })
  },

  start: ({ agent }) => ({
    frames: new FrameParser(),
    hasBegun: false,
    wholeNodes: agent.options.nodeData === 'full',
    tokens: { prompt: 0, completion: 0, countedNodes: new Set() },
    modelFinishReason: undefined,
    answered: false,
    nodeFailed: false,
    ended: false,
  }),

  translate({ event, data }, state) {
    const isFirst = !state.hasBegun
    state.hasBegun = true
    if (data === '') return []
    // Reading continues, because releases before 2026 send the node data after it.
    if (data === '[DONE]') return end('stop', state)
    const json = state.frames.parse(data)
    if (json === undefined) return MALFORMED
    const frame = objectOf(json)
    switch (event) {
      case undefined:
      case 'answer':
      case 'fastAnswer':
        return answer(frame, state)
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
        return nodesFinished([frame], state)
      case 'flowResponses':
        return nodesFinished(listOf(json), state)
      case 'toolCall':
      case 'toolParams':
      case 'toolResponse':
        return [toolDetail(event, objectOf(frame.tool))]
      case 'updateVariables':
        return [variables({ variables: json }, 'variables')]
      case 'interactive':
        return interaction(objectOf(frame.interactive), state)
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
    if (!isObject(body)) return unreadableBody(body)
    const choice = listOf(body.choices)[0]
    if (choice === undefined) return errorEvents(fastgptFailure(body, { isFirst: true }))
    state.nodeFailed = Boolean(body.error)
    const hasVariables = Object.keys(objectOf(body.newVariables)).length > 0
    return [
      ...(hasVariables ? [variables(body, 'newVariables')] : []),
      ...message(objectOf(objectOf(choice).message), state),
      ...nodesFinished(listOf(body.responseData), state),
      ...end(textOf(objectOf(choice).finish_reason) ?? 'stop', state),
    ]
  },

  finish: (state) => (state.ended ? [] : silentFailure(state)),

  toFailure: refusalReader((error, reply) => fastgptFailure(error, { ...reply, isFirst: true })),

  // Releases before 2026 lack this call; they stop the run when the connection closes.
  stop(call) {
    return call.platformConversationId === undefined
      ? undefined
      : helperCall(
          jsonPost(fastgptUrl(call, '/v2/chat/stop'), bearer(call), runOf(call)),
          fastgpt.toFailure,
          (body) => (body.code === 200 ? { ok: undefined } : undefined),
        )
  },

  // A public endpoint, so the key is not checked. An empty completion would check it, but would run a plugin
  // app.
  probe: (agent) =>
    probeCall(
      { method: 'GET', url: fastgptUrl({ agent }, '/common/system/getInitData'), headers: {} },
      fastgpt.toFailure,
      (body) => body.code === 200,
    ),
}

function fastgptUrl({ agent }: Pick<AgentCall, 'agent'>, path: string): string {
  return agentUrl(agent.baseUrl, /\/api(?:\/v[12])?$/, `/api${path}`)
}

/** The fields that identify a run. A key bound to an app overrides `appId`; a team's key requires it. */
function runOf(call: AgentCall): object {
  return omitUndefined({
    chatId: call.platformConversationId,
    appId: call.app?.id ?? (call.appId.trim() || undefined),
  })
}

function contentOf({ query, files }: AgentCall): unknown {
  if (files.length === 0) return query
  const parts = filesByUrl(files).map(({ url, name, kind }) =>
    // FastGPT derives the file type from the name.
    kind === 'image' ? { type: 'image_url', image_url: { url } } : { type: 'file_url', name, url },
  )
  return [{ type: 'text', text: query }, ...parts]
}

function answer(frame: JsonObject, state: FastGptState): readonly ChatEvent[] {
  const choice = objectOf(listOf(frame.choices)[0])
  const delta = objectOf(choice.delta)
  const reason = textOf(choice.finish_reason)
  return [
    ...textEvent('reasoning', delta.reasoning_content),
    ...text(delta.content, state),
    ...(reason === undefined ? [] : end(reason, state)),
  ]
}

/** Reads a blocking reply: a text, or a list of parts whose kind, in releases of 2026, only the key shows. */
function message({ content, reasoning_content }: JsonObject, state: FastGptState): readonly ChatEvent[] {
  const parts = Array.isArray(content)
    ? content
    : [{ reasoning: { content: reasoning_content }, text: { content } }]
  return parts.map(objectOf).flatMap((part) => {
    const content = objectOf(part.text).content
    const isNext = state.answered && textOf(content) !== undefined
    return [
      ...textEvent('reasoning', objectOf(part.reasoning).content),
      ...listOf(part.tools).map((tool) => toolDetail('toolResponse', objectOf(tool))),
      ...(isNext ? text('\n\n', state) : []),
      ...text(content, state),
      ...('interactive' in part ? interaction(objectOf(part.interactive), state) : []),
    ]
  })
}

function text(value: unknown, state: FastGptState): readonly ChatEvent[] {
  const events = textEvent('text', value)
  state.answered ||= events.length > 0
  return events
}

function end(reason: string, state: FastGptState): readonly ChatEvent[] {
  if (state.ended) return []
  state.ended = true
  return conclusion(reason, state)
}

function conclusion(reason: string, state: FastGptState): readonly ChatEvent[] {
  const failed = silentFailure(state)
  return failed.length > 0
    ? failed
    : [{ type: 'end', reason: state.modelFinishReason ?? finishReason(reason) }]
}

function silentFailure({ nodeFailed, answered }: FastGptState): readonly ChatEvent[] {
  return nodeFailed && !answered ? errorEvents({ reason: 'agent_error' }) : []
}

/** `toolParams` events are pieces that clients join by the tool's id. */
function toolDetail(event: 'toolCall' | 'toolParams' | 'toolResponse', tool: JsonObject): ChatEvent {
  return detail(tool, (step) => {
    const common = { id: step.text('id'), name: step.text('toolName') }
    switch (event) {
      case 'toolCall':
        step.keep('functionName')
        return { type: 'tool_call', ...common, data: { arguments: step.jsonText('params') } }
      case 'toolParams':
        return { type: 'tool_call', ...common, data: { arguments_delta: step.text('params') } }
      case 'toolResponse': {
        const output = step.text('response') ?? ''
        return { type: 'tool_result', ...common, data: { arguments: step.jsonText('params'), output } }
      }
    }
  })
}

function variables(frame: JsonObject, name: string): ChatEvent {
  return detail(frame, (step) => ({ type: 'variables', data: { values: step.object(name) } }))
}

function nodesFinished(items: readonly unknown[], state: FastGptState): readonly ChatEvent[] {
  const nodes = items.map(objectOf)
  countTokens(nodes, state.tokens)
  state.nodeFailed ||= nodes.some(hasFailed)
  const reason = nodes.map((node) => textOf(node.finishReason)).findLast((each) => each !== undefined)
  if (reason !== undefined)
    state.modelFinishReason = reason === 'length' || reason === 'content_filter' ? reason : undefined
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
    ...usage(state.tokens.prompt, state.tokens.completion),
    // Old releases send node data after the end; the data may change the end's reason or turn it into a
    // failure.
    ...(state.ended ? conclusion('stop', state) : []),
  ]
}

/** A pause may come from a node inside a child app or a loop; the innermost one contains the question. */
function interaction(outermost: JsonObject, state: FastGptState): readonly ChatEvent[] {
  let pause = outermost
  let params = objectOf(pause.params)
  while (isObject(params.childrenResponse)) {
    pause = params.childrenResponse
    params = objectOf(pause.params)
  }
  state.answered = true
  const options = listOf(params.userSelectOptions)
    .map((option) => objectOf(option).value)
    .filter((option) => typeof option === 'string')
  const labels = listOf(params.inputForm)
    .map((field) => objectOf(field).label)
    .filter((label) => typeof label === 'string')
  return [
    {
      type: 'interaction',
      question: textOf(params.description) ?? textOf(params.content) ?? '',
      options: [...options, ...labels],
    },
    detail({ ...params, type: pause.type }, (step) => {
      const question = step.text('description') ?? step.text('content')
      const form = step.list('inputForm')
      const name = step.text('type')
      // A pause also carries edges and node outputs, which are internal to the workflow.
      if (state.wholeNodes) step.put('interactive', outermost)
      // The options have keys beside their values.
      else step.keepAll()
      return { type: 'interaction', name, data: { question, options, form } }
    }),
  ]
}
