import {
  AbortError,
  type ChatChunk,
  type DetailEvent,
  type TokenUsage,
  Trunkline,
  TrunklineError,
} from '@trunkline/sdk'
import type { PlaygroundKey } from './playground-key.ts'
import { recordedFetch } from './recorded-fetch.ts'

export interface SentFile {
  readonly id: string
  readonly name: string
  readonly url: string
}

/** A message and what has come back so far. */
export interface Turn {
  readonly id: number
  readonly query: string
  readonly files: readonly SentFile[]
  readonly state: 'waiting' | 'streaming' | 'done' | 'stopped' | 'failed'
  readonly text: string
  readonly details: readonly DetailEvent[]
  /** The reply as it was sent, line by line. */
  readonly frames: string
  readonly requestId: string | undefined
  readonly callId: string | undefined
  readonly usage: TokenUsage | undefined
  readonly error: unknown
  readonly firstTextMs: number | undefined
  readonly totalMs: number | undefined
}

interface ChatSessionOptions {
  readonly baseURL: string
  readonly agent: string
  readonly app: string
  /** False for agents that remember nothing. */
  readonly keepsConversation: boolean
  readonly key: PlaygroundKey
  /** Calls back a little later, so that many fragments lead to one drawing. */
  schedule?(callback: () => void): void
  readonly fetch?: typeof fetch
}

const DRAWN_EVERY_MS = 40

/** One conversation with an agent: its turns, of which at most the last is running. */
export class ChatSession {
  /** The conversation has an id of our own from its first message on: some agents require one. */
  readonly conversationId: string
  readonly #options: ChatSessionOptions
  readonly #listeners = new Set<() => void>()
  #turns: readonly Turn[] = []
  #running: AbortController | undefined
  #nextId = 1
  #isScheduled = false

  constructor(options: ChatSessionOptions) {
    this.#options = options
    this.conversationId = options.keepsConversation ? `playground-${randomId()}` : ''
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
    const controller = new AbortController()
    this.#running = controller
    const id = this.#nextId++
    this.#turns = [...this.#turns, { ...EMPTY, id, query, files }]
    this.#announce()
    const startedMs = performance.now()
    try {
      await this.#ask(id, startedMs, controller.signal)
      this.#change(id, { state: 'done' })
    } catch (error) {
      this.#change(id, error instanceof AbortError ? { state: 'stopped' } : failedTurn(error))
    }
    this.#change(id, { totalMs: performance.now() - startedMs })
    this.#running = undefined
    this.#announce()
  }

  /** Sends the message of a failed turn again, in place of it. */
  async retry(turn: Turn): Promise<void> {
    if (this.#running !== undefined) return
    this.#turns = this.#turns.filter(({ id }) => id !== turn.id)
    await this.send(turn.query, turn.files)
  }

  /** Breaks the running reply off, which ends the run at the platform. */
  stop(): void {
    this.#running?.abort()
  }

  async #ask(id: number, startedMs: number, signal: AbortSignal): Promise<void> {
    try {
      await this.#stream(id, await this.#options.key.get(), startedMs, signal)
    } catch (error) {
      if (!this.#options.key.refused(error)) throw error
      await this.#stream(id, await this.#options.key.get(), startedMs, signal)
    }
  }

  async #stream(id: number, apiKey: string, startedMs: number, signal: AbortSignal): Promise<void> {
    const { baseURL, agent, app, fetch: send } = this.#options
    const turn = this.#turn(id)
    const record = (text: string) => this.#change(id, { frames: this.#turn(id).frames + text })
    const client = new Trunkline({
      baseURL,
      apiKey,
      // The key belongs to the visitor, who is logged in.
      dangerouslyAllowBrowser: true,
      maxRetries: 0,
      fetch: recordedFetch(record, send),
    })
    const stream = client.chat.stream(
      {
        agent,
        app_id: app,
        chat_id: this.conversationId,
        conversation_id: this.conversationId,
        detail: true,
        query: turn.query,
        files: turn.files.map(({ url }) => url),
      },
      { signal },
    )
    const { response, requestId } = await stream.withResponse()
    this.#change(id, {
      state: 'streaming',
      requestId,
      callId: response.headers.get('x-call-id') ?? undefined,
    })
    for await (const chunk of stream) this.#take(id, chunk, startedMs)
    // Where the platform has replaced its answer, the whole reply is the replacement alone.
    const { choices } = await stream.final()
    this.#change(id, { text: choices[0]?.message.content ?? '' })
  }

  #take(id: number, { choices, usage, detail }: ChatChunk, startedMs: number): void {
    const turn = this.#turn(id)
    const text = choices[0]?.delta.content ?? ''
    this.#change(id, {
      ...(text !== '' && {
        text: turn.text + text,
        firstTextMs: turn.firstTextMs ?? performance.now() - startedMs,
      }),
      ...(usage !== undefined && { usage }),
      ...(detail !== undefined && { details: [...turn.details, detail] }),
    })
  }

  #turn(id: number): Turn {
    return this.#turns.find((turn) => turn.id === id) ?? EMPTY
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

/** A call that was refused before its reply has an id as well. */
function failedTurn(error: unknown): Partial<Turn> {
  const callId = error instanceof TrunklineError ? error.headers?.get('x-call-id') : undefined
  return { state: 'failed', error, ...(typeof callId === 'string' && { callId }) }
}

const EMPTY: Turn = {
  id: 0,
  query: '',
  files: [],
  state: 'waiting',
  text: '',
  details: [],
  frames: '',
  requestId: undefined,
  callId: undefined,
  usage: undefined,
  error: undefined,
  firstTextMs: undefined,
  totalMs: undefined,
}

/** Not `randomUUID`, which browsers offer on HTTPS and on this machine alone. */
function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(9))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
