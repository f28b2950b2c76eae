import { type ChatChunk, type ServerChatStream, Trunkline, TrunklineError } from '@trunkline/sdk'
import type { PlaygroundKey } from './playground-key.ts'
import { recordedFetch } from './recorded-fetch.ts'
import type { StoredChat } from './stored-chat.ts'
import { EMPTY_TURN, type SentFile, type Turn } from './turn.ts'
import { failedTurn, isConnectionLost, keepsNoReplies } from './turn-failure.ts'

interface ChatSessionOptions {
  readonly baseURL: string
  readonly agent: string
  readonly app: string
  /** False for agents that remember nothing. */
  readonly keepsConversation: boolean
  readonly key: PlaygroundKey
  /** The chat that goes on. By default a new one begins. */
  readonly stored?: StoredChat | undefined
  /** Stores the chat, so that it can go on after a reload. */
  save?(chat: StoredChat): void
  /** Calls back a little later, so that many fragments lead to one drawing. */
  schedule?(callback: () => void): void
  readonly fetch?: typeof fetch
}

/** The reply that is being read. */
interface Running {
  readonly turnId: number
  readonly controller: AbortController
  /** The key with which the question was sent; only that one can read the reply. */
  apiKey: string | undefined
  stream: ServerChatStream | undefined
  isResuming: boolean
}

const DRAWN_EVERY_MS = 40
/** With the waits between them, these last for half a minute, which a restart of the gateway rarely takes. */
const RESUME_RETRIES = 8

/**
 * One conversation with an agent: its turns, of which at most one is running. The gateway keeps the replies, so that they survive a
 * lost connection and, because the chat is stored, a reload of the page.
 */
export class ChatSession {
  /** The conversation has an id of our own from its first message on: some agents require one. */
  readonly conversationId: string
  readonly #options: ChatSessionOptions
  readonly #listeners = new Set<() => void>()
  #turns: readonly Turn[]
  #running: Running | undefined
  #nextId: number
  #keepsReplies = true
  #isScheduled = false
  #isClosed = false

  constructor(options: ChatSessionOptions) {
    this.#options = options
    this.#turns = options.stored?.turns ?? []
    this.#nextId = Math.max(0, ...this.#turns.map(({ id }) => id)) + 1
    const newId = options.keepsConversation ? `playground-${randomId()}` : ''
    this.conversationId = options.stored?.conversationId ?? newId
  }

  get app(): string {
    return this.#options.app
  }

  get turns(): readonly Turn[] {
    return this.#turns
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Sends a message. Failures are part of the turn; a second message waits until the first has been answered. */
  async send(query: string, files: readonly SentFile[]): Promise<void> {
    if (this.#running !== undefined) return
    const id = this.#nextId++
    const idempotencyKey = this.#keepsReplies ? randomId() : undefined
    const turn = { ...EMPTY_TURN, id, query, files, idempotencyKey, startedAtMs: Date.now() }
    this.#turns = [...this.#turns, turn]
    await this.#run(id, (running) => this.#ask(running))
  }

  /** Goes on with what was being read when the page was left, if there is something. */
  async resumeUnfinished(): Promise<void> {
    const unfinished = this.#turns.findLast(({ state, error }) => state === 'lost' && error === undefined)
    if (unfinished !== undefined) await this.#run(unfinished.id, (running) => this.#resume(running))
  }

  /** Goes on with a reply whose connection was lost. */
  async tryAgain({ id, callId }: Turn): Promise<void> {
    if (callId !== undefined) return await this.#run(id, (running) => this.#resume(running))
    // Perhaps nothing has reached the gateway. With the same key, the question is not asked twice.
    if (this.#running === undefined) this.#change(id, { wasAway: false, startedAtMs: Date.now() })
    await this.#run(id, (running) => this.#ask(running))
  }

  /** Sends the message of a turn again: in place of it, or after it where something of its reply stays. */
  async askAgain({ id, query, files, state, text }: Turn): Promise<void> {
    if (this.#running !== undefined) return
    if (state === 'failed' || text === '') this.#turns = this.#turns.filter((turn) => turn.id !== id)
    await this.send(query, files)
  }

  /** Stops the running reply, which ends the run at the platform. Called again, it does not wait for the gateway. */
  stop(): void {
    const running = this.#running
    if (running === undefined) return
    const abort = () => running.controller.abort()
    const isRepeated = this.#turn(running.turnId).isStopped
    this.#change(running.turnId, { isStopped: true })
    this.save()
    this.#announce()
    if (running.stream === undefined || isRepeated) abort()
    else running.stream.stop().catch(abort)
  }

  /** Stops the running reply, and stores nothing more. */
  close(): void {
    this.#isClosed = true
    this.#running?.controller.abort()
  }

  save(): void {
    if (this.#isClosed) return
    const { app } = this.#options
    this.#options.save?.({ app, conversationId: this.conversationId, turns: this.#turns })
  }

  async #run(turnId: number, read: (running: Running) => Promise<void>): Promise<void> {
    if (this.#running !== undefined) return
    const running: Running = {
      turnId,
      controller: new AbortController(),
      apiKey: undefined,
      stream: undefined,
      isResuming: false,
    }
    this.#running = running
    const release = this.#options.key.hold()
    this.#change(turnId, { state: 'waiting', error: undefined })
    // Before the request: what is not stored cannot be resumed.
    this.save()
    this.#announce()
    try {
      await read(running)
      this.#change(turnId, { state: 'done' })
    } catch (error) {
      this.#change(turnId, failedTurn(this.#turn(turnId), error, running.isResuming))
    }
    const { wasAway, startedAtMs } = this.#turn(turnId)
    this.#change(turnId, {
      isReconnecting: false,
      totalMs: wasAway ? undefined : Date.now() - startedAtMs,
    })
    this.#running = undefined
    release()
    this.save()
    this.#announce()
  }

  async #ask(running: Running): Promise<void> {
    try {
      await this.#sendQuestion(running)
    } catch (error) {
      if (this.#turn(running.turnId).idempotencyKey === undefined) throw error
      if (keepsNoReplies(error)) {
        this.#keepsReplies = false
        this.#change(running.turnId, { idempotencyKey: undefined })
        this.save()
        await this.#sendQuestion(running)
      } else if (isConnectionLost(error)) await this.#resume(running)
      else throw error
    }
  }

  async #sendQuestion(running: Running): Promise<void> {
    const { key } = this.#options
    running.apiKey = await key.get()
    try {
      await this.#read(running, this.#questionStream(running))
    } catch (error) {
      if (!key.refused(error)) throw error
      running.apiKey = await key.get()
      await this.#read(running, this.#questionStream(running))
    }
  }

  #questionStream(running: Running): ServerChatStream {
    const { agent, app } = this.#options
    const { query, files, idempotencyKey } = this.#turn(running.turnId)
    return this.#client(running).chat.stream(
      {
        agent,
        app_id: app,
        chat_id: this.conversationId,
        conversation_id: this.conversationId,
        detail: true,
        query,
        files: files.map(({ url }) => url),
        ...(idempotencyKey !== undefined && { keep: true, idempotencyKey }),
      },
      { signal: running.controller.signal },
    )
  }

  /** Reads the reply from its first event, because what was read before may have ended within a word. */
  async #resume(running: Running): Promise<void> {
    const { turnId, controller } = running
    running.apiKey ??= this.#options.key.current
    running.isResuming = true
    this.#change(turnId, { isReconnecting: true, wasAway: true })
    this.#announce()
    const { idempotencyKey } = this.#turn(turnId)
    if (running.apiKey === undefined || idempotencyKey === undefined)
      throw new TrunklineError('The key of the call is gone.', { reason: 'reply_gone' })
    const options = { signal: controller.signal, maxRetries: RESUME_RETRIES }
    await this.#read(running, this.#client(running).calls.resume({ idempotencyKey }, options))
  }

  #client({ turnId, apiKey }: Running): Trunkline {
    const { baseURL, fetch: send } = this.#options
    const recorder = {
      record: (text: string) => this.#change(turnId, { frames: this.#turn(turnId).frames + text }),
      // Where this was the end of the reply, the turn is done before it is drawn.
      ended: () => this.#change(turnId, { isReconnecting: this.#turn(turnId).state === 'streaming' }),
    }
    return new Trunkline({
      baseURL,
      apiKey,
      // The key belongs to the visitor, who is logged in.
      dangerouslyAllowBrowser: true,
      maxRetries: 0,
      fetch: recordedFetch(recorder, send),
    })
  }

  async #read(running: Running, stream: ServerChatStream): Promise<void> {
    const { turnId, isResuming } = running
    running.stream = stream
    this.#change(turnId, { frames: '' })
    const { response, requestId } = await stream.withResponse()
    const { callId, requestId: idOfQuestion } = this.#turn(turnId)
    this.#change(turnId, {
      state: 'streaming',
      isReconnecting: false,
      // That of the question, under which the ledger has the call.
      requestId: isResuming ? idOfQuestion : requestId,
      callId: response.headers.get('x-call-id') ?? callId,
    })
    this.save()
    // Not before a loop begins to read: a stream with a listener flows by itself.
    stream.on('resumed', () => this.#change(turnId, { isReconnecting: false }))
    // What was read before stays in sight until it comes again.
    let isFirst = true
    for await (const chunk of stream) {
      if (isFirst) this.#change(turnId, { text: '', details: [], usage: undefined })
      isFirst = false
      this.#take(turnId, chunk)
    }
    // Where the platform has replaced its answer, the whole reply is the replacement alone.
    const { choices } = await stream.final()
    this.#change(turnId, { text: choices[0]?.message.content ?? '' })
  }

  #take(id: number, { choices, usage, detail }: ChatChunk): void {
    const turn = this.#turn(id)
    const text = choices[0]?.delta.content ?? ''
    const elapsedMs = turn.wasAway ? undefined : Date.now() - turn.startedAtMs
    this.#change(id, {
      ...(text !== '' && { text: turn.text + text, firstTextMs: turn.firstTextMs ?? elapsedMs }),
      ...(usage !== undefined && { usage }),
      ...(detail !== undefined && { details: [...turn.details, detail] }),
    })
  }

  #turn(id: number): Turn {
    return this.#turns.find((turn) => turn.id === id) ?? EMPTY_TURN
  }

  #change(id: number, change: Partial<Turn>): void {
    this.#turns = this.#turns.map((turn) => (turn.id === id ? { ...turn, ...change } : turn))
    if (this.#isScheduled) return
    this.#isScheduled = true
    const { schedule = (callback) => void setTimeout(callback, DRAWN_EVERY_MS) } = this.#options
    schedule(() => {
      this.#isScheduled = false
      this.#announce()
    })
  }

  #announce(): void {
    for (const listener of this.#listeners) listener()
  }
}

/** Not `randomUUID`, which browsers offer on HTTPS and on this machine alone. */
function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(9))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
