import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { countTokens } from '@trunkline/sandbox/src/replies/compose-reply.ts'
import type { Faults } from '@trunkline/sandbox/src/replies/faults.ts'
import { asRecord } from '@trunkline/sandbox/src/serving/narrow.ts'
import type { Holds } from './holds.ts'
import type { ModelPart } from './model-part.ts'
import { type ModelReply, planReply } from './model-reply.ts'

/**
 * What has become of a call of the model. `left`: LangGraph has closed its connection, because the run was cancelled; `cut`: the
 * model has closed it.
 */
export type ModelCallState = 'running' | 'finished' | 'left' | 'cut'

/** A call that the graph makes of the model. */
export interface ModelCall {
  /** LangGraph's id of the run. */
  readonly run: string
  readonly part: ModelPart
  /** The text of the user's message. */
  readonly query: string
  readonly state: ModelCallState
  /** How many pieces of text precede a fault that strikes amid the reply. */
  readonly middle: number
}

/** The model behind the graph: a server of chat completions in this process, so that tests see when a call is given up. */
export interface Model {
  readonly url: string
  /** The last 1,000 calls, oldest first. */
  readonly calls: readonly ModelCall[]
  close(): Promise<void>
}

export interface ModelOptions {
  readonly holds: Holds
  /** Between two pieces. */
  readonly delayMs: number
  /** Called when the calls or their states have changed. */
  readonly changed: () => void
}

const CALLS_MAX = 1_000

export async function startModel({ holds, delayMs, changed }: ModelOptions): Promise<Model> {
  const calls: ModelCall[] = []
  const server = createServer(async (request, response) => {
    const reply = await planReply(asRecord(JSON.parse(await text(request))), response)
    const { run, part, query, middle } = reply
    const call = { run, part, query, middle, state: 'running' as ModelCallState }
    const settle = (state: ModelCallState) => {
      if (call.state !== 'running') return
      call.state = state
      changed()
    }
    calls.push(call)
    if (calls.length > CALLS_MAX) calls.shift()
    changed()
    response.once('close', () => settle('left'))
    const delay = reply.faults.has('sandbox:slow') ? reply.faults.number('sandbox:slow', 100) : delayMs
    settle(await new Speaker(response, reply, holds, delay).speak())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    calls,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Faults that strike the connection of the client amid the reply, for which the model waits there. */
const BREAKS = ['sandbox:reset', 'sandbox:truncate', 'sandbox:endless-line'] as const

export function breaksAmid({ has }: Faults): boolean {
  return BREAKS.some(has)
}

/** Streams one completion, until the caller leaves. */
class Speaker {
  readonly #response: ServerResponse
  readonly #reply: ModelReply
  readonly #holds: Holds
  readonly #delayMs: number
  readonly #gone = new AbortController()
  // Messages of the same id would replace each other in the graph.
  readonly #head = { id: `chatcmpl-${randomUUID()}`, object: 'chat.completion.chunk', created: 0 }

  constructor(response: ServerResponse, reply: ModelReply, holds: Holds, delayMs: number) {
    this.#response = response
    this.#reply = reply
    this.#holds = holds
    this.#delayMs = delayMs
    response.once('close', () => this.#gone.abort())
    // LangGraph may have left while the files were read.
    if (response.destroyed) this.#gone.abort()
  }

  async speak(): Promise<ModelCallState> {
    const { faults } = this.#reply
    try {
      if (faults.has('sandbox:hang') || faults.has('sandbox:pings')) await this.#hold()
      this.#response.writeHead(200, { 'content-type': 'text/event-stream' })
      const isWhole = await this.#say()
      if (!isWhole) return await this.#cut()
      await this.#write('[DONE]')
      this.#response.end()
      return 'finished'
    } catch (error) {
      if (!this.#gone.signal.aborted) throw error
      return 'left'
    }
  }

  /** Returns whether the reply is whole. */
  async #say(): Promise<boolean> {
    const { fragments, reasoning, toolCall, finish, middle, faults } = this.#reply
    await this.#choose({ role: 'assistant', content: '' })
    if (reasoning !== '') await this.#choose({ reasoning_content: reasoning })
    if (toolCall !== undefined) await this.#choose({ tool_calls: [{ index: 0, ...toolCall }] })
    for (const [index, content] of fragments.entries()) {
      await this.#choose({ content })
      if (index === 0 && faults.has('sandbox:silence')) await this.#hold()
      await this.#pause()
      if (index + 1 !== middle) continue
      if (faults.has('sandbox:error-midstream')) return false
      if (breaksAmid(faults)) await this.#hold()
    }
    await this.#choose({}, finish)
    await this.#report()
    return true
  }

  /** The tokens come in a last chunk of their own, as `stream_options` asks for. */
  async #report(): Promise<void> {
    const { promptTokens: prompt_tokens, fragments } = this.#reply
    const completion_tokens = countTokens(fragments.join(''))
    const total_tokens = prompt_tokens + completion_tokens
    await this.#send({ choices: [], usage: { prompt_tokens, completion_tokens, total_tokens } })
  }

  #choose(delta: object, finish: string | null = null): Promise<void> {
    return this.#send({ choices: [{ index: 0, delta, finish_reason: finish }] })
  }

  #send(more: object): Promise<void> {
    return this.#write(JSON.stringify({ ...this.#head, model: 'sandbox', ...more }))
  }

  async #write(data: string): Promise<void> {
    const { signal } = this.#gone
    signal.throwIfAborted()
    if (this.#response.write(`data: ${data}\n\n`)) return
    await once(this.#response, 'drain', { signal })
  }

  async #pause(): Promise<void> {
    if (this.#delayMs > 0) await sleep(this.#delayMs, undefined, { signal: this.#gone.signal })
  }

  /** Waits until the caller leaves, or until the model is to go on. */
  async #hold(): Promise<void> {
    const { signal } = this.#gone
    signal.throwIfAborted()
    await Promise.race([this.#holds.over(this.#reply.run), once(signal, 'abort')])
    signal.throwIfAborted()
  }

  async #cut(): Promise<ModelCallState> {
    // The bytes that are written are corked until the next turn of the event loop.
    await nextTurn()
    this.#response.destroy()
    return 'cut'
  }
}
