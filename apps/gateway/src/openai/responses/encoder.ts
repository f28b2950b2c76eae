import type { ChatEvent, DetailEvent, FinishReason, TokenCounts } from '#core/agents/events.ts'
import type { ErrorReason, Problem } from '#core/base/errors/errors.ts'
import { type JsonObject, objectOf, parseJson } from '#core/base/values/json.ts'
import { detailsOf } from '#core/calls/reading/detail-of.ts'
import { paragraphOf } from '#core/calls/reading/reply-text.ts'
import { ToolCalls } from '#core/calls/reading/tool-calls.ts'
import type { ChatHead } from '#core/calls/request/chat-head.ts'
import type { ReplyCollector } from '#core/reply-log/kept-form.ts'
import type { ChunkEncoder } from '#http/chat/completion-form.ts'
import { openAiError } from '#http/response/openai-error.ts'
import { NO_EXTRAS, outputText, type TextExtras, tokenLogprobs, urlCitations } from './output-text.ts'
import { type Echo, type ResponseStatus, responseHead, responseUsage } from './response.ts'

export interface ResponseOptions {
  readonly echo: Echo
  /** Whether the model's reasoning is sent, as a summary. */
  readonly reasoning: boolean
  /** Whether the run's progress is sent. */
  readonly details: boolean
  /** Whether a text that replaces the answer removes what came before it; in a stream that has been sent already. */
  readonly replaces: boolean
}

/** The item that is being written. There is one at a time, so items are in the order of their `output_index`. */
interface OpenItem {
  readonly kind: 'message' | 'reasoning'
  readonly id: string
  readonly index: number
  /** The event of a fragment up to its sequence number, which is the same for all fragments of the item. */
  readonly delta: string
  text: string
  /** How likely the tokens of the text were, if the request asks for it. */
  logprobs: TextExtras['logprobs']
}

type ItemStatus = 'completed' | 'incomplete'

/** Writes the events of a response, and collects the response on the way. */
export class ResponseEncoder implements ChunkEncoder {
  readonly #chat: ChatHead
  readonly #options: ResponseOptions
  #hasText = false
  readonly #toolCalls = new ToolCalls()
  readonly #items = { message: 0, reasoning: 0 }
  #output: JsonObject[] = []
  #open: OpenItem | undefined
  #sequence = 0
  #hasStarted = false
  #model: string
  #usage: TokenCounts | undefined
  /** The sources of the text, which are sent at the end of its message. */
  #annotations: readonly unknown[] = []
  /** What the server reports of its sources beside the answer. */
  #sources: JsonObject = {}
  #heldBytes = 0
  #response: JsonObject | undefined

  constructor(chat: ChatHead, options: ResponseOptions) {
    this.#chat = chat
    this.#options = options
    this.#model = chat.model
  }

  /** The response, after the end of the reply. */
  get response(): JsonObject {
    return this.#response ?? this.#responseOf('in_progress')
  }

  /** About the bytes of the reply that are held. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  encode(event: ChatEvent): string {
    switch (event.type) {
      case 'text':
      case 'pause':
      case 'replace':
        return this.#text(event)
      case 'reasoning':
        return this.#options.reasoning ? this.#fragment('reasoning', event.text) : ''
      case 'tool_calls':
        this.#toolCalls.add(event.delta)
        this.#heldBytes += JSON.stringify(event.delta).length
        return ''
      case 'model':
        this.#model = event.model
        return ''
      case 'usage':
        this.#usage = event.usage
        return ''
      case 'end':
        return this.#end(event)
      case 'detail':
      case 'file':
        return this.#detail(event)
      case 'logprobs':
        return this.#logprobs(event.logprobs)
      case 'citations':
        this.#heldBytes += JSON.stringify([event.top, event.annotations]).length
        this.#annotations = [...this.#annotations, ...event.annotations]
        this.#sources = { ...this.#sources, ...event.top }
        return ''
      case 'error':
        return ''
    }
  }

  /** An `error` event that every client takes for one, and the failed response. */
  fail(problem: Problem): string {
    const { error } = openAiError(problem)
    const { message, code } = error
    const failure = failureCode(problem.reason)
    // Some clients repeat what fails for any other type, although a used-up quota would be used up again.
    const type = failure === 'insufficient_quota' ? failure : error.type
    const start = this.#start()
    // The item that is being written has no end, so it is no part of the response.
    this.#open = undefined
    const failed = this.#responseOf('failed', { error: { code: failure, message } })
    return (
      start +
      this.#event('error', { code, message, param: null, error: { ...error, type } }) +
      this.#event('response.failed', { response: failed })
    )
  }

  #text(event: Extract<ChatEvent, { type: 'text' | 'replace' | 'pause' }>): string {
    const text = event.type === 'text' ? event.text : paragraphOf(event, this.#hasText)
    this.#hasText = true
    if (event.type !== 'replace' || !this.#options.replaces) return this.#fragment('message', text)
    this.#output = this.#output.filter(({ type }) => type !== 'message')
    if (this.#open?.kind === 'message') this.#open = undefined
    this.#items.message = 0
    return this.#fragment('message', event.text)
  }

  /** They follow their text, in an event without any. Those of reasoning have no place in a response. */
  #logprobs(told: JsonObject): string {
    const open = this.#open
    const logprobs = tokenLogprobs(told)
    if (open?.kind !== 'message' || logprobs.length === 0) return ''
    this.#heldBytes += JSON.stringify(logprobs).length
    open.logprobs = [...open.logprobs, ...logprobs]
    const { id, index } = open
    const place = { item_id: id, output_index: index, content_index: 0 }
    return this.#event('response.output_text.delta', { ...place, delta: '', logprobs })
  }

  #detail(event: ChatEvent): string {
    const details = this.#options.details ? detailsOf(event) : []
    return details.map((detail) => this.#start() + this.#progress(detail)).join('')
  }

  #progress(detail: DetailEvent): string {
    return this.#event('response.in_progress', { ...this.#inProgress(), trunkline: detail })
  }

  #fragment(kind: OpenItem['kind'], text: string): string {
    const begin = this.#open?.kind === kind ? '' : this.#start() + this.#close() + this.#begin(kind)
    const open = this.#open
    if (open === undefined || text === '') return begin
    open.text += text
    this.#heldBytes += Buffer.byteLength(text)
    return `${begin}${open.delta}${this.#sequence++},"delta":${JSON.stringify(text)}}\n\n`
  }

  #begin(kind: OpenItem['kind'], isPlaceholder = false): string {
    const count = this.#items[kind]++
    const prefix = kind === 'message' ? 'msg' : 'rs'
    const id = `${prefix}_${this.#chat.callId}${isPlaceholder ? PLACEHOLDER : count === 0 ? '' : `.${count}`}`
    const index = this.#output.length
    const place = { item_id: id, output_index: index }
    if (kind === 'reasoning') {
      const type = 'response.reasoning_summary_text.delta'
      const delta = deltaHead(type, { ...place, summary_index: 0 })
      this.#open = { kind, id, index, text: '', logprobs: [], delta }
      return (
        this.#event('response.output_item.added', {
          output_index: index,
          item: { id, type: kind, summary: [] },
        }) +
        this.#event('response.reasoning_summary_part.added', {
          ...place,
          summary_index: 0,
          part: summary(''),
        })
      )
    }
    const type = 'response.output_text.delta'
    this.#open = {
      kind,
      id,
      index,
      text: '',
      logprobs: [],
      delta: deltaHead(type, { ...place, content_index: 0, logprobs: [] }),
    }
    const item = { ...message(id, '', 'in_progress'), content: [] }
    return (
      this.#event('response.output_item.added', { output_index: index, item }) +
      this.#event('response.content_part.added', { ...place, content_index: 0, part: outputText('') })
    )
  }

  /** Ends the open item, with the status of a message that was cut. */
  #close(status: ItemStatus = 'completed'): string {
    const open = this.#open
    if (open === undefined) return ''
    this.#open = undefined
    const { kind, id, index, text, logprobs } = open
    const place = { item_id: id, output_index: index }
    if (kind === 'reasoning') {
      const item = { id, type: kind, summary: [summary(text)] }
      this.#output.push(item)
      return (
        this.#event('response.reasoning_summary_text.done', { ...place, summary_index: 0, text }) +
        this.#event('response.reasoning_summary_part.done', {
          ...place,
          summary_index: 0,
          part: summary(text),
        }) +
        this.#event('response.output_item.done', { output_index: index, item })
      )
    }
    const annotations = urlCitations(this.#annotations, text.length)
    this.#annotations = []
    const item = message(id, text, status, { annotations, logprobs })
    const [part] = item.content
    this.#output.push(item)
    const added = annotations.map((annotation, number) =>
      this.#event('response.output_text.annotation.added', {
        ...place,
        content_index: 0,
        annotation_index: number,
        annotation,
      }),
    )
    return (
      added.join('') +
      this.#event('response.output_text.done', { ...place, content_index: 0, text, logprobs }) +
      this.#event('response.content_part.done', { ...place, content_index: 0, part }) +
      this.#event('response.output_item.done', { output_index: index, item })
    )
  }

  /** The calls come whole at the end: platforms may mix their fragments, and clients act on whole calls only. */
  #functionCalls(status: ItemStatus): string {
    const calls = this.#toolCalls.list
    // Where the answer was cut, its last call may have been.
    return calls
      .map((call, number) =>
        this.#functionCall(call, number, number === calls.length - 1 ? status : 'completed'),
      )
      .join('')
  }

  #functionCall(call: JsonObject, number: number, status: ItemStatus): string {
    const { name = '', arguments: args = '' } = objectOf(call.function)
    if (this.#options.echo.customs.has(name)) return this.#customCall(call, number, status)
    const id = `fc_${this.#chat.callId}_${number}`
    const index = this.#output.length
    const place = { item_id: id, output_index: index }
    const item = {
      id,
      type: 'function_call',
      call_id: call.id ?? id,
      name,
      arguments: args,
      status,
    }
    this.#output.push(item)
    const added = { ...item, arguments: '', status: 'in_progress' }
    return (
      this.#event('response.output_item.added', { output_index: index, item: added }) +
      this.#event('response.function_call_arguments.delta', { ...place, delta: args }) +
      this.#event('response.function_call_arguments.done', { ...place, name, arguments: args }) +
      this.#event('response.output_item.done', { output_index: index, item })
    )
  }

  #customCall(call: JsonObject, number: number, status: ItemStatus): string {
    const { name, arguments: args } = objectOf(call.function)
    const id = `ctc_${this.#chat.callId}_${number}`
    const index = this.#output.length
    const place = { item_id: id, output_index: index }
    const input = customInput(args)
    const item = { id, type: 'custom_tool_call', call_id: call.id ?? id, name, input, status }
    this.#output.push(item)
    const added = { ...item, input: '', status: 'in_progress' }
    return (
      this.#event('response.output_item.added', { output_index: index, item: added }) +
      this.#event('response.custom_tool_call_input.delta', { ...place, delta: input }) +
      this.#event('response.custom_tool_call_input.done', { ...place, input }) +
      this.#event('response.output_item.done', { output_index: index, item })
    )
  }

  #end({ reason, pause, files }: Extract<ChatEvent, { type: 'end' }>): string {
    const why = INCOMPLETE[reason]
    const status = why === undefined ? 'completed' : 'incomplete'
    const isEmpty = this.#open?.kind !== 'message' && this.#items.message === 0
    const text =
      this.#start() +
      (isEmpty ? this.#emptyMessage() : '') +
      this.#close(status) +
      this.#functionCalls(status)
    this.#response = this.#responseOf(status, {
      completed_at: Math.max(Math.floor(Date.now() / 1000), this.#chat.created),
      incomplete_details: why === undefined ? null : { reason: why },
      ...(files !== undefined && { files }),
      ...(pause !== undefined && { pause }),
    })
    return `${text}${this.#event(`response.${status}`, { response: this.#response })}data: [DONE]\n\n`
  }

  /**
   * Some clients repeat the whole turn after a response without a message. Beside calls of functions it has an id that shows
   * that there is nothing to go on with: clients repeat those calls, and refer to the message.
   */
  #emptyMessage(): string {
    return this.#close() + this.#begin('message', this.#toolCalls.list.length > 0)
  }

  #start(): string {
    if (this.#hasStarted) return ''
    this.#hasStarted = true
    return (
      this.#event('response.created', this.#inProgress()) +
      this.#event('response.in_progress', this.#inProgress()) +
      this.#toolsIgnored()
    )
  }

  #toolsIgnored(): string {
    const { ignoredTools: tools } = this.#chat
    if (!this.#options.details || tools.length === 0) return ''
    return this.#progress({ type: 'other', name: 'tools_ignored', data: {}, raw: { tools: [...tools] } })
  }

  #inProgress() {
    return { response: this.#responseOf('in_progress') }
  }

  #responseOf(status: ResponseStatus, end: object = {}): JsonObject {
    return {
      ...responseHead(this.#chat, this.#options.echo),
      status,
      model: this.#model,
      completed_at: null,
      incomplete_details: null,
      error: null,
      output: status === 'in_progress' ? [] : this.#output,
      usage: status === 'in_progress' ? null : responseUsage(this.#usage),
      ...(status !== 'in_progress' && this.#sources),
      ...end,
    }
  }

  #event(type: string, fields: object): string {
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.#sequence++, ...fields })}\n\n`
  }
}

/** The text that a model has written as the argument of a custom tool; all of it where it has kept to no form. */
function customInput(args: unknown): string {
  const text = String(args ?? '')
  const { input } = objectOf(parseJson(text))
  return typeof input === 'string' ? input : text
}

/** Ends the id of a message that only stands beside calls of functions. */
const PLACEHOLDER = '.empty'

const INCOMPLETE: Partial<Record<FinishReason, string>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
}

/** Collects the response as JSON. */
export function responseCollector(encoder: ResponseEncoder): ReplyCollector<JsonObject> {
  return {
    add(event) {
      encoder.encode(event)
    },
    get heldBytes() {
      return encoder.heldBytes
    },
    get reply() {
      return encoder.response
    },
  }
}

/** Everything of the event but its number and its text. */
function deltaHead(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields }).slice(0, -1)},"sequence_number":`
}

function summary(text: string) {
  return { type: 'summary_text', text }
}

function message(
  id: string,
  text: string,
  status: 'in_progress' | 'completed' | 'incomplete',
  extras: TextExtras = NO_EXTRAS,
) {
  return { id, type: 'message', status, role: 'assistant', content: [outputText(text, extras)] }
}

/** OpenAI's codes. Clients that repeat failed requests do not repeat those of used-up quotas and refused input. */
function failureCode(reason: ErrorReason): string {
  switch (reason) {
    case 'quota_exceeded':
    case 'agent_quota':
      return 'insufficient_quota'
    case 'agent_rejected_input':
    case 'content_filtered':
      return 'invalid_prompt'
    case 'rate_limited':
    case 'agent_rate_limited':
      return 'rate_limit_exceeded'
    default:
      return 'server_error'
  }
}
