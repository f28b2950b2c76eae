import type { ChatEvent, ChatEvents, DetailEvent, FinishReason, TokenCounts } from '#core/agents/events.ts'
import type { OfferedFile } from '#core/agents/made-file.ts'
import { type OfferedPause, type Pause, textOfPause } from '#core/agents/pause.ts'
import { Problem } from '#core/base/errors/errors.ts'
import type { JsonObject } from '#core/base/values/json.ts'
import type { ReplyCollector } from '#core/reply-log/kept-form.ts'
import { detailsOf } from './detail-of.ts'
import { type ToolCall, ToolCalls } from './tool-calls.ts'

/** A complete reply, from which each face builds its response. The parts that the face does not ask for are empty. */
export interface CollectedReply {
  readonly model: string
  readonly content: string
  readonly reasoning: string
  readonly toolCalls: readonly ToolCall[]
  readonly details: readonly DetailEvent[]
  /** Absent if the caller requested none, or the platform sent none. */
  readonly logprobs?: JsonObject | undefined
  /** What the answer is based on, in the form of the server; absent if it reported nothing. */
  readonly citations?: Citations | undefined
  readonly finishReason: FinishReason
  /** Undefined if the platform reported no token counts. */
  readonly usage: TokenCounts | undefined
  /** The files that the agent has made; absent if there are none. */
  readonly files?: readonly OfferedFile[] | undefined
  /** Where the run waits; undefined if it has ended. */
  readonly pause?: OfferedPause | undefined
}

interface Citations {
  readonly top: JsonObject
  readonly annotations: readonly unknown[]
}

/** What a face returns in addition to the content; other parts are neither stored nor counted. */
export type CollectedParts = {
  readonly [Part in 'reasoning' | 'toolCalls' | 'details' | 'openAiFields']?: boolean
}

/**
 * Reads a call to its end, and returns what the collector has made of it.
 *
 * @param replyBytesMax - the largest reply that is held in memory
 * @throws Problem the error with which the call failed, or `agent_malformed` if the reply is too large
 */
export async function collectReply<Reply>(
  events: ChatEvents,
  collector: ReplyCollector<Reply>,
  replyBytesMax: number,
): Promise<Reply> {
  await events.read((batch) => {
    for (const event of batch) collector.add(event)
    if (collector.heldBytes > replyBytesMax) {
      throw new Problem('agent_malformed', { detail: `The reply is larger than ${replyBytesMax} bytes.` })
    }
    return undefined
  })
  return collector.reply
}

/** Collects the parts of which most faces build their reply. */
export class PartsCollector<Reply> implements ReplyCollector<Reply> {
  heldBytes = 0
  readonly #parts: CollectedParts
  readonly #render: (reply: CollectedReply) => Reply
  #toolCalls: ToolCalls | undefined
  readonly #details: DetailEvent[] = []
  /** The last entry of the details while it is reasoning, whose fragments are joined into one entry. */
  #openReasoning: { text: string } | undefined
  #model: string
  #content = ''
  #reasoning = ''
  /** Of each field, with lists that grow with the reply. */
  #logprobs: Map<string, unknown> | undefined
  #citations: { readonly top: Map<string, unknown>; readonly annotations: unknown[] } | undefined
  #finishReason: FinishReason = 'stop'
  #usage: TokenCounts | undefined
  #files: readonly OfferedFile[] | undefined
  #pause: OfferedPause | undefined

  /** @param render - builds the reply of the face */
  constructor(model: string, parts: CollectedParts, render: (reply: CollectedReply) => Reply) {
    this.#model = model
    this.#parts = parts
    this.#render = render
  }

  get reply(): Reply {
    return this.#render({
      model: this.#model,
      content: this.#content,
      reasoning: this.#reasoning,
      toolCalls: this.#toolCalls?.list ?? [],
      details: this.#details,
      logprobs: this.#logprobs && Object.fromEntries(this.#logprobs),
      citations: this.#citations && {
        top: Object.fromEntries(this.#citations.top),
        annotations: this.#citations.annotations,
      },
      finishReason: this.#finishReason,
      usage: this.#usage,
      files: this.#files,
      pause: this.#pause,
    })
  }

  add(event: ChatEvent): void {
    switch (event.type) {
      case 'model':
        this.#model = event.model
        return
      case 'usage':
        this.#usage = event.usage
        return
      case 'end':
        this.#finishReason = event.reason
        this.#pause = event.pause
        this.#files = event.files
        return
      case 'text':
        this.#content += event.text
        this.heldBytes += Buffer.byteLength(event.text)
        break
      case 'replace':
        // The reply has not been sent yet, so only the replacement is kept.
        this.heldBytes += Buffer.byteLength(event.text) - Buffer.byteLength(this.#content)
        this.#content = event.text
        break
      case 'pause':
        this.#addPause(event.pause)
        break
      case 'reasoning':
        if (this.#parts.reasoning) {
          this.#reasoning += event.text
          this.heldBytes += Buffer.byteLength(event.text)
        }
        break
      case 'logprobs':
      case 'citations':
        if (this.#parts.openAiFields) this.#addOpenAiFields(event)
        return
      case 'tool_calls':
        if (this.#parts.toolCalls) {
          this.#toolCalls ??= new ToolCalls()
          this.#toolCalls.add(event.delta)
          this.heldBytes += Buffer.byteLength(JSON.stringify(event.delta))
        }
        break
    }
    if (this.#parts.details) this.#addDetail(event)
  }

  /** A question is a paragraph of the text. */
  #addPause(pause: Pause): void {
    const text = (this.#content === '' ? '' : '\n\n') + textOfPause(pause)
    this.#content += text
    this.heldBytes += Buffer.byteLength(text)
  }

  #addOpenAiFields(event: Extract<ChatEvent, { type: 'logprobs' | 'citations' }>): void {
    this.heldBytes += Buffer.byteLength(JSON.stringify(event))
    if (event.type === 'logprobs') {
      this.#logprobs ??= new Map()
      joinLists(this.#logprobs, event.logprobs)
      return
    }
    this.#citations ??= { top: new Map(), annotations: [] }
    for (const [name, value] of Object.entries(event.top)) this.#citations.top.set(name, value)
    for (const annotation of event.annotations) this.#citations.annotations.push(annotation)
  }

  #addDetail(event: ChatEvent): void {
    if (event.type === 'reasoning' && this.#openReasoning !== undefined) {
      this.#openReasoning.text += event.text
      this.heldBytes += Buffer.byteLength(event.text)
      return
    }
    for (const detail of detailsOf(event)) {
      this.#openReasoning = event.type === 'reasoning' ? { text: event.text } : undefined
      this.#details.push(
        this.#openReasoning === undefined ? detail : { type: 'reasoning', data: this.#openReasoning },
      )
      this.heldBytes += Buffer.byteLength(JSON.stringify(detail))
    }
  }
}

/** The lists of `added` come behind those that are known; other fields are those of `added`. */
function joinLists(known: Map<string, unknown>, added: JsonObject): void {
  for (const [name, value] of Object.entries(added)) {
    const before = known.get(name)
    if (!Array.isArray(value)) known.set(name, value ?? before ?? null)
    else if (Array.isArray(before)) for (const item of value) before.push(item)
    else known.set(name, [...value])
  }
}
