import {
  type ChatChunk,
  type PauseAnswer,
  type ServerChatStream,
  Trunkline,
  TrunklineError,
} from '@trunkline/sdk'
import { randomId } from '../../../session/random-id.ts'
import { isOver, isRefusedAnswer, pausedTurn } from './paused-turn.ts'
import type { PlaygroundKey } from './playground-key.ts'
import { EMPTY_TURN, type SentFile, type Turn } from './turn.ts'
import { failedTurn, isConnectionLost, keepsNoReplies } from './turn-failure.ts'

/** What makes a conversation of a user one, as the gateway names it. */
export interface ChatPlace {
  readonly agent: string
  readonly app: string
  readonly conversationId: string
  /** On whose behalf the chat asks; empty for nobody. */
  readonly endUser: string
}

interface ChatSessionOptions {
  readonly baseURL: string
  readonly place: ChatPlace
  readonly key: PlaygroundKey
  /** What was said before, and what was being read when the page was left. */
  readonly turns?: readonly Turn[]
  /** Keeps a turn whose reply is being read, so that it can go on after a reload; undefined once it has ended. */
  keep?(turn: Turn | undefined): void
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
/** What is read of a reply, before its first event. */
const NOTHING_READ = { text: '', details: [], usage: undefined, madeFiles: [], pause: undefined }
/** With the waits between them, these last for half a minute, which a restart of the gateway rarely takes. */
const RESUME_RETRIES = 8

/**
 * One conversation with an agent: its turns, of which at most one is running. The gateway keeps the replies, so that they survive a
 * lost connection and a reload of the page.
 */
export class ChatSession {
  readonly #options: ChatSessionOptions
  readonly #listeners = new Set<() => void>()
  #turns: readonly Turn[]
  #running: Running | undefined
  #keepsReplies = true
  #isScheduled = false
  #isClosed = false

  constructor(options: ChatSessionOptions) {
    this.#options = options
    this.#turns = options.turns ?? []
  }

  get place(): ChatPlace {
    return this.#options.place
  }

  get turns(): readonly Turn[] {
    return this.#turns
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
    if (pause === undefined || this.isRunning) return
    // An answer that did not arrive makes room for this one.
    this.#turns = this.#turns.filter((turn) => turn.answer?.pause !== pause.id || turn.state !== 'failed')
    await this.#send({ query: shown, files: [], answer: { ...answer, pause: pause.id } })
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
    if (!this.isRunning) this.#change(id, { wasAway: false, startedAtMs: Date.now() })
    await this.#run(id, (running) => this.#ask(running))
  }

  /** Sends the message of a turn again: in place of it, or after it where something of its reply stays. */
  async askAgain({ id, query, files, answer, state, text }: Turn): Promise<void> {
    if (this.isRunning) return
    if (state === 'failed' || text === '') this.#turns = this.#turns.filter((turn) => turn.id !== id)
    await this.#send({ query, files, answer })
  }

  /** Notes what the user thinks of an answer, once the gateway has it. */
  rated({ id }: Turn, rating: Turn['rating'], ratingText: string): void {
    this.#change(id, { rating, ratingText })
  }

  /** Stops the running reply, which ends the run at the platform. Called again, it does not wait for the gateway. */
  stop(): void {
    const running = this.#running
    if (running === undefined) return
    const abort = () => running.controller.abort()
    const isRepeated = this.#turn(running.turnId).isStopped
    this.#change(running.turnId, { isStopped: true })
    this.#announce()
    if (running.stream === undefined || isRepeated) abort()
    else running.stream.stop().catch(abort)
  }

  /** Stops the running reply, and keeps nothing more. */
  close(): void {
    this.#isClosed = true
    this.#running?.controller.abort()
  }

  async #send(message: Pick<Turn, 'query' | 'files'> & Partial<Turn>): Promise<boolean> {
    if (this.isRunning) return true
    const asked = pausedTurn(this.#turns)
    if (asked !== undefined) this.#change(asked.id, { answerError: undefined })
    const id = randomId()
    const idempotencyKey = this.#keepsReplies ? randomId() : undefined
    const turn = { ...EMPTY_TURN, id, idempotencyKey, startedAtMs: Date.now(), ...message }
    this.#turns = [...this.#turns, turn]
    await this.#run(id, (running) => this.#ask(running))
    return this.#turns.some((one) => one.id === id)
  }

  async #run(turnId: string, read: (running: Running) => Promise<void>): Promise<void> {
    if (this.isRunning) return
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
    // Before the request: what is not kept cannot be resumed.
    this.#keep(turnId)
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
    this.#keep(turnId)
    this.#announce()
  }

  #keep(turnId: string): void {
    const turn = this.#turn(turnId)
    const mayGoOn = (this.isRunning || turn.state === 'lost') && turn.idempotencyKey !== undefined
    if (!this.#isClosed) this.#options.keep?.(mayGoOn ? turn : undefined)
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
        this.#keep(running.turnId)
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
    const { agent, app, conversationId, endUser } = this.place
    const { query, files, answer, idempotencyKey } = this.#turn(running.turnId)
    return this.#client(running).chat.stream(
      {
        agent,
        app_id: app,
        chat_id: conversationId,
        conversation_id: conversationId,
        detail: true,
        query: answer === undefined ? query : '',
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
    const { baseURL, fetch: send = fetch } = this.#options
    return new Trunkline({
      baseURL,
      apiKey,
      // The key belongs to the visitor, who is logged in.
      dangerouslyAllowBrowser: true,
      maxRetries: 0,
      fetch: (input, init) => {
        // A stream whose connection was lost is read on with another request.
        if (init?.method !== 'POST' && this.#turn(turnId).state === 'streaming')
          this.#change(turnId, { isReconnecting: true })
        return send(input, init)
      },
    })
  }

  async #read(running: Running, stream: ServerChatStream): Promise<void> {
    const { turnId, isResuming } = running
    running.stream = stream
    const { response, requestId } = await stream.withResponse()
    const { callId, requestId: idOfQuestion } = this.#turn(turnId)
    this.#change(turnId, {
      state: 'streaming',
      isReconnecting: false,
      // That of the question, under which the ledger has the call.
      requestId: isResuming ? idOfQuestion : requestId,
      callId: response.headers.get('x-call-id') ?? callId,
    })
    this.#keep(turnId)
    // Not before a loop begins to read: a stream with a listener flows by itself.
    stream.on('resumed', () => this.#change(turnId, { isReconnecting: false }))
    // What was read before stays in sight until it comes again.
    let isFirst = true
    for await (const chunk of stream) {
      if (isFirst) this.#change(turnId, NOTHING_READ)
      isFirst = false
      this.#take(turnId, chunk)
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

  /** Many fragments lead to one drawing. */
  #change(id: string, change: Partial<Turn>): void {
    this.#turns = this.#turns.map((turn) => (turn.id === id ? { ...turn, ...change } : turn))
    if (this.#isScheduled) return
    this.#isScheduled = true
    setTimeout(() => {
      this.#isScheduled = false
      this.#announce()
    }, DRAWN_EVERY_MS)
  }

  #announce(): void {
    for (const listener of this.#listeners) listener()
  }
}
