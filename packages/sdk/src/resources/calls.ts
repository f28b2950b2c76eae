import { type ApiPromise, apiPromise, type ListPromise } from '../api-promise.ts'
import { type Reply, replyOf } from '../chat/reply.ts'
import type { ServerChatStream, ServerChatStreamSpec } from '../chat/server-chat-stream.ts'
import type { Call } from '../generated/wire.ts'
import type { CallState } from '../generated/words.ts'
import type {
  CallReference,
  EndedCall,
  ReplyOptions,
  ResumeOptions,
  RunningCall,
  StoppedCall,
} from '../kept/kept-types.ts'
import type { CallOptions, ChatStreamOptions } from '../options.ts'
import type { GatewayTransport } from '../transport/gateway-transport.ts'
import { type CsvQuery, type ListQuery, Resource } from './resource.ts'
import type { ServerChat } from './server-chat.ts'

/** Which calls to list, and how many are requested at once. */
export type CallFilter = Omit<ListQuery<'listCalls'>, 'outcome'> & {
  /** Only calls that ended in this way, or in one of these; `running` stands for those that have not ended. */
  outcome?: CallState | readonly CallState[]
}

/**
 * Calls; reached as `client.calls`. Calls of every kind have a record and can be stopped. Kept ones outlive their connection: the API
 * key that made one can read its reply.
 */
export class Calls extends Resource {
  readonly #chats: ServerChat

  constructor(chats: ServerChat, transport: GatewayTransport) {
    super(transport)
    this.#chats = chats
  }

  /**
   * Lists the calls of the ledger, newest first. `for await` reads all pages; `await` alone the first one.
   *
   * @example
   * ```ts
   * for await (const call of client.calls.list({ outcome: 'failed' })) console.log(call.request_id, call.reason)
   * ```
   */
  list(filter?: CallFilter, options?: CallOptions): ListPromise<Call> {
    return this.transport.list('/calls', filter, options)
  }

  /**
   * Returns the record of a call, also while it runs: whose it is, how it ended, and what it took.
   *
   * @example
   * ```ts
   * const { callId = '' } = await client.chat.create({ agent: 'dify', query: 'Hello' })
   * const { outcome, duration_ms, total_tokens } = await client.calls.get(callId)
   * console.log(outcome, duration_ms, total_tokens)
   * ```
   */
  get(id: string, options?: CallOptions): ApiPromise<Call> {
    return this.send('GET', '/calls/{id}', options, { params: { id } })
  }

  /**
   * Downloads calls of the ledger as CSV, all of them at once: a response whose body is read as it arrives. It can be piped into
   * a file, or be returned by a route handler.
   *
   * @example
   * ```ts
   * import { writeFile } from 'node:fs/promises'
   *
   * const { body } = await client.calls.csv({ from: '2026-10-01', to: '2026-11-01', timezone: 'Asia/Shanghai' })
   * if (body !== null) await writeFile('calls.csv', body)
   * ```
   */
  csv(filter?: CsvQuery<CallFilter>, options?: ChatStreamOptions): Promise<Response> {
    return this.transport.csv('/calls', filter, options)
  }

  /**
   * Reads the stream of a kept call from its first event, or from the one that follows `after`: while the call runs and after it has
   * ended. It never runs an agent. `text()` and `final()` have what this stream has read.
   *
   * @example
   * ```ts
   * const idempotencyKey = crypto.randomUUID()
   * const question = { agent: 'dify', query: 'Hello', idempotencyKey }
   * for await (const _ of client.chat.stream(question)) break
   * // Later, and also in another process:
   * console.log(await client.calls.resume({ idempotencyKey }).text())
   * ```
   */
  resume(id: CallReference, options: ResumeOptions = {}): ServerChatStream {
    const open: ServerChatStreamSpec['open'] = async (signal, onKept) =>
      (await this.#chats.keptCall(id, options.after)).resume({ ...options, signal, onKept })
    return this.#chats.streamOf(open, undefined, options)
  }

  /**
   * Stops a running call, kept or not, in whichever process it runs: its client gets the reason `stopped`. Administrators stop all
   * calls, owners their own. By the id of the call, the access token of the client is used if it has one; by the `Idempotency-Key`, the
   * API key that made the call. A call that has ended is left as it is, and its outcome is returned.
   *
   * @example
   * ```ts
   * const stream = client.chat.stream({ agent: 'dify', query: 'Hello', keep: true })
   * const { callId = '' } = await stream.final()
   * console.log((await client.calls.stop(callId)).outcome)
   * ```
   */
  stop(id: CallReference, options?: CallOptions): ApiPromise<StoppedCall> {
    const credential = typeof id === 'string' ? 'token' : 'key'
    return apiPromise(this.#chats.keptCall(id).then((call) => call.requestStop(options, credential)))
  }

  /**
   * Reads the whole reply of a kept call that has ended, also of a streamed one. Of a call that is running, it resolves with the
   * status `running`; with `wait`, it asks again until the call has ended. Giving up the wait does not stop the call. The error of
   * a call that failed is thrown.
   *
   * @example
   * ```ts
   * const { callId = '' } = await client.chat.create({ agent: 'dify', query: 'Hello', keep: true })
   * console.log((await client.calls.reply(callId, { wait: true })).text)
   * const now = await client.calls.reply(callId)
   * console.log(now.status === 'running' ? `Ask again in ${now.retryAfterMs} ms.` : now.text)
   * ```
   */
  reply(id: CallReference, options: ReplyOptions & { readonly wait: true }): ApiPromise<Reply>
  /** Without `wait`, the result of a call that is running says so. */
  reply(id: CallReference, options?: ReplyOptions): ApiPromise<EndedCall | RunningCall>
  reply(id: CallReference, options?: ReplyOptions): ApiPromise<Reply | RunningCall> {
    return apiPromise(this.#chats.keptCall(id).then((call) => call.reply(options, replyOf)))
  }

  /**
   * Deletes what the gateway keeps of the reply, which then can be read no more.
   *
   * @example
   * ```ts
   * const { callId = '' } = await client.chat.create({ agent: 'dify', query: 'Hello', keep: true })
   * await client.calls.deleteReply(callId)
   * ```
   */
  async deleteReply(id: CallReference, options?: CallOptions): Promise<void> {
    await (await this.#chats.keptCall(id)).deleteReply(options)
  }
}
