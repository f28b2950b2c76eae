import {
  type ChatChunk,
  type PauseAnswer,
  type ServerChatStream,
  Trunkline,
  TrunklineError,
} from '@trunkline/sdk'
import { randomId } from '../../../session/random-id.ts'
import type { Exchange } from '../frames/exchange.ts'
import { recordedFetch } from '../frames/recorded-fetch.ts'
import { carriedMessages } from './carried-messages.ts'
import { isOver, isRefusedAnswer, pausedTurn } from './paused-turn.ts'
import type { PlaygroundKey } from './playground-key.ts'
import { EMPTY_TURN, type SentFile, sentQuery, type Turn } from './turn.ts'
import { failedTurn, isConnectionLost, keepsNoReplies } from './turn-failure.ts'

interface ChatSessionOptions {
  readonly baseURL: string
  /** The id of the chat. By default a new one begins. */
  readonly id?: string | undefined
  readonly agent: string
  readonly app: string
  /** False for agents that remember nothing. */
  readonly keepsConversation: boolean
  readonly key: PlaygroundKey
  /** The turns of a chat that goes on, or those that a new one begins with. */
  readonly turns?: readonly Turn[] | undefined
  /** The conversation of a chat that goes on. */
  readonly conversationId?: string | undefined
  /** On whose behalf the chat asks; by default on that of nobody. */
  readonly endUser?: string | undefined
  /** Stores the chat, so that it can go on after a reload. */
  save?(chat: ChatSession): void
  /** Calls back a little later, so that many fragments lead to one drawing. */
  schedule?(callback: () => void): void
  readonly fetch?: typeof fetch
}

/** The reply that is being read. */
interface Running {
  readonly turnId: string
  readonly controller: AbortController
  /** The key with which the question was sent; only that one can read the reply. */
  apiKey: string | undefined
  stream: ServerChatStream | undefined
  isResuming: boolean
}

const DRAWN_EVERY_MS = 40
/** What has come since is lost if the browser dies. */
const SAVED_EVERY_MS = 1_000
const EXCHANGES_MAX = 5
/** What is read of a reply, before its first event. */
const NOTHING_READ = { text: '', details: [], usage: undefined, madeFiles: [], pause: undefined }
/** With the waits between them, these last for half a minute, which a restart of the gateway rarely takes. */
const RESUME_RETRIES = 8

/**
 * One conversation with an agent: its turns, of which at most one is running. The gateway keeps the replies, so that they survive a
 * lost connection and, because the chat is stored, a reload of the page.
 */
export class ChatSession {
  readonly id: string
  readonly #options: ChatSessionOptions
  readonly #listeners = new Set<() => void>()
  #turns: readonly Turn[]
  /** Undefined before the first message. It is an id of our own, because some agents require one. */
  #conversationId: string | undefined
  #running: Running | undefined
  #savedAtMs = 0
  #keepsReplies = true
  #isScheduled = false
  #isClosed = false

  constructor(options: ChatSessionOptions) {
    this.#options = options
    this.id = options.id ?? randomId()
    this.#turns = options.turns ?? []
    this.#conversationId = options.conversationId
  }

  get agent(): string {
    return this.#options.agent
  }

  get app(): string {
    return this.#options.app
  }

  get turns(): readonly Turn[] {
    return this.#turns
  }

  get conversationId(): string {
    return this.#conversationId ?? ''
  }

  get endUser(): string | undefined {
    return this.#options.endUser
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Sends a message. Failures are part of the turn; a second message waits until the first has been answered.
   *
   * @returns false where the agent waits for an answer that the message is not, so that there is no turn of it
   */
  async send(query: string, files: readonly SentFile[]): Promise<boolean> {
    return await this.#send({ query, files })
  }

  /**
   * Answers the question with which the reply of a turn has ended, or gives it up.
   *
   * @param shown the answer as the message of the user; empty if the question is given up
   */
  async answer({ pause }: Turn, answer: Omit<PauseAnswer, 'pause'>, shown: string): Promise<void> {
    if (pause === undefined || this.#running !== undefined) return
    // An answer that did not arrive makes room for this one.
    this.#turns = this.#turns.filter((turn) => turn.answer?.pause !== pause.id || turn.state !== 'failed')
    await this.#send({ query: shown, files: [], answer: { ...answer, pause: pause.id } })
  }

  /**
   * Asks for another answer to the last question. Agents remember their own answer and cannot forget it, so the question begins
   * another conversation, which the messages before it are carried into.
   */
  async regenerate(): Promise<void> {
    const last = this.#turns.at(-1)
    if (last === undefined || this.#running !== undefined) return
    this.#turns = this.#turns.slice(0, -1)
    this.#conversationId = undefined
    const { query, files, text, earlierAnswers } = last
    await this.#send({
      query,
      files,
      earlierAnswers: text === '' ? earlierAnswers : [...earlierAnswers, text],
    })
  }

  /** The turn that was being read when the page was left. */
  get unfinished(): Turn | undefined {
    return this.#turns.findLast(({ state, error }) => state === 'lost' && error === undefined)
  }

  /** Goes on with what was being read when the page was left, if there is something. */
  async resumeUnfinished(): Promise<void> {
    const { unfinished } = this
    if (unfinished !== undefined) await this.#run(unfinished.id, (running) => this.#resume(running))
  }

  /** Goes on with a reply whose connection was lost. */
  async tryAgain({ id, callId }: Turn): Promise<void> {
    if (callId !== undefined) return await this.#run(id, (running) => this.#resume(running))
    // Perhaps nothing has reached the gateway. With the same key, the question runs only once.
    if (this.#running === undefined) this.#change(id, { wasAway: false, startedAtMs: Date.now() })
    await this.#run(id, (running) => this.#ask(running))
  }

  /** Sends the message of a turn again: in place of it, or after it where something of its reply stays. */
  async askAgain({ id, query, files, answer, state, text, carried, earlierAnswers }: Turn): Promise<void> {
    if (this.#running !== undefined) return
    const isReplaced = state === 'failed' || text === ''
    if (isReplaced) this.#turns = this.#turns.filter((turn) => turn.id !== id)
    // Whether the conversation has begun is not known, so the messages before go along again.
    await this.#send({ query, files, answer, carried, ...(isReplaced && { earlierAnswers }) })
  }

  /** Takes the turns as another tab has stored them, except for the one that is being read here. */
  takeStored(turns: readonly Turn[], conversationId: string): void {
    const own = this.#running && this.#turn(this.#running.turnId)
    this.#turns = turns.map((turn) => (turn.id === own?.id ? own : turn))
    if (own !== undefined && !this.#turns.includes(own)) this.#turns = [...this.#turns, own]
    if (own === undefined) this.#conversationId = conversationId
    this.#announce()
  }

  /** Notes what the user thinks of an answer, once the gateway has it. */
  rated({ id }: Turn, rating: Turn['rating'], ratingText: string): void {
    this.#change(id, { rating, ratingText })
    this.save()
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
    this.#savedAtMs = Date.now()
    this.#options.save?.(this)
  }

  async #send(message: Pick<Turn, 'query' | 'files'> & Partial<Turn>): Promise<boolean> {
    if (this.#running !== undefined) return true
    const carried = this.#beginConversation()
    const asked = pausedTurn(this.#turns)
    if (asked !== undefined) this.#change(asked.id, { answerError: undefined })
    const id = randomId()
    const idempotencyKey = this.#keepsReplies ? randomId() : undefined
    const { conversationId } = this
    const startedAtMs = Date.now()
    this.#turns = [
      ...this.#turns,
      { ...EMPTY_TURN, id, conversationId, carried, idempotencyKey, startedAtMs, ...message },
    ]
    await this.#run(id, (running) => this.#ask(running))
    return this.#turns.some((turn) => turn.id === id)
  }

  /** Begins a conversation where there is none. Returns the messages that are to be carried into it. */
  #beginConversation(): string {
    if (this.#conversationId !== undefined) return ''
    const { keepsConversation } = this.#options
    this.#conversationId = keepsConversation ? `playground-${randomId()}` : ''
    return keepsConversation ? carriedMessages(this.#turns) : ''
  }

  async #run(turnId: string, read: (running: Running) => Promise<void>): Promise<void> {
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
      this.#showRefusedAnswer(turnId, error)
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

  /** Moves the refusal of an answer to the question, which can be answered again. Nothing of the message has reached the agent. */
  #showRefusedAnswer(turnId: string, error: unknown): void {
    const others = this.#turns.filter(({ id }) => id !== turnId)
    const asked = pausedTurn(others)
    if (asked === undefined || !isRefusedAnswer(error)) return
    this.#turns = others
    this.#change(asked.id, { answerError: error, isPauseOver: isOver(error) })
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
    const { agent, app, endUser } = this.#options
    const turn = this.#turn(running.turnId)
    const { files, answer, conversationId, idempotencyKey } = turn
    return this.#client(running).chat.stream(
      {
        agent,
        app_id: app,
        chat_id: conversationId,
        conversation_id: conversationId,
        detail: true,
        query: sentQuery(turn),
        files: files.map(({ url }) => url),
        ...(answer !== undefined && { answer }),
        ...(endUser && { user: endUser }),
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
      exchanged: (exchange: Exchange) =>
        this.#change(turnId, {
          exchanges: [...this.#turn(turnId).exchanges, exchange].slice(-EXCHANGES_MAX),
        }),
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
      if (isFirst) this.#change(turnId, NOTHING_READ)
      isFirst = false
      this.#take(turnId, chunk)
      if (Date.now() - this.#savedAtMs >= SAVED_EVERY_MS) this.save()
    }
    // Where the platform has replaced its answer, the whole reply is the replacement alone.
    const { choices } = await stream.final()
    this.#change(turnId, { text: choices[0]?.message.content ?? '' })
  }

  #take(id: string, { choices, usage, detail, files, pause }: ChatChunk): void {
    const turn = this.#turn(id)
    const text = choices[0]?.delta.content ?? ''
    const elapsedMs = turn.wasAway ? undefined : Date.now() - turn.startedAtMs
    this.#change(id, {
      ...(text !== '' && { text: turn.text + text, firstTextMs: turn.firstTextMs ?? elapsedMs }),
      ...(usage !== undefined && { usage }),
      ...(detail !== undefined && { details: [...turn.details, detail] }),
      ...(files !== undefined && { madeFiles: files }),
      ...(pause !== undefined && { pause }),
    })
  }

  #turn(id: string): Turn {
    return this.#turns.find((turn) => turn.id === id) ?? EMPTY_TURN
  }

  #change(id: string, change: Partial<Turn>): void {
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
