import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Answer, htmlPage, Refusal } from '../serving/answer.ts'
import type { Run } from '../serving/runs.ts'
import type { Faults } from './faults.ts'

/**
 * The frames of one reply in a platform's protocol. A script does not deal with time, sockets or faults, and
 * the player does not depend on any platform. A `text` parameter is the text generated so far, which is less
 * than planned if the run was stopped.
 */
export interface Script {
  readonly streamHeaders: Readonly<Record<string, string>>
  /** Returns the frames before the text. */
  opening(): string
  fragment(text: string, index: number): string
  /** Returns the frames after the text, the end marker last. */
  closing(text: string, end: 'finished' | 'stopped'): string
  /** Returns the last frames of a run that fails after some text. */
  failure(text: string): string
  heartbeat(): string
  /** Returns the whole reply for a client that does not stream. */
  blocking(text: string, end: 'finished' | 'stopped'): Answer
  /** Returns the reply of a failed run for a client that does not stream. */
  blockingFailure(): Answer
}

export interface Playback {
  readonly run: Run
  readonly script: Script
  readonly fragments: readonly string[]
  readonly faults: Faults
  readonly delayMs: number
  readonly stream: boolean
  /** What the platform sends if it fails itself. */
  readonly serverError: Answer
  /** Whether the platform aborts a run when its connection closes. */
  readonly endsWithClient: boolean
}

/**
 * Writes a reply into a response, with the faults that its query requests.
 *
 * @throws Refusal before the first byte if the reply is a plain error
 */
export function play(response: ServerResponse, playback: Playback): Promise<void> {
  return new Player(response, playback).play()
}

/** Runs without a response, for a platform whose clients poll for the result. */
export async function generate(
  playback: Pick<Playback, 'run' | 'fragments' | 'faults' | 'delayMs'>,
): Promise<void> {
  const { run, fragments, faults } = playback
  const stuck = ['sandbox:hang', 'sandbox:pings', 'sandbox:silence'] as const
  try {
    if (faults.has('sandbox:slow-first')) await run.pause(faults.number('sandbox:slow-first', 3_000))
    if (stuck.some(faults.has)) await run.hold()
    for (const _ of fragments) await run.pause(fragmentDelayMs(playback))
  } catch (error) {
    if (!run.halted) throw error
  } finally {
    run.finish()
  }
}

function fragmentDelayMs({ faults, delayMs }: Pick<Playback, 'faults' | 'delayMs'>): number {
  return faults.has('sandbox:slow') ? faults.number('sandbox:slow', 100) : delayMs
}

const PROXY_PAGES: Readonly<Record<number, string>> = {
  502: '502 Bad Gateway',
  503: '503 Service Temporarily Unavailable',
  504: '504 Gateway Time-out',
}

/** nginx's page of that status. */
function proxyPage(status: number): Answer {
  return htmlPage(status, PROXY_PAGES[status] ?? String(status))
}

const ENDLESS_LINE_BYTES = 64 * 1024 * 1024

const BREAKS_A_BODY = [
  'sandbox:silence',
  'sandbox:reset',
  'sandbox:truncate',
  'sandbox:malformed',
  'sandbox:endless-line',
] as const

class Player {
  readonly #response: ServerResponse
  readonly #playback: Playback
  readonly #middle: number
  #text = ''

  constructor(response: ServerResponse, playback: Playback) {
    this.#response = response
    this.#playback = playback
    this.#middle = Math.max(1, playback.fragments.length >> 1)
  }

  async play(): Promise<void> {
    const { run, script, stream, endsWithClient } = this.#playback
    // The client may have disconnected already, while the platform read its files.
    if (endsWithClient && this.#response.destroyed) run.halt('aborted')
    if (endsWithClient) this.#response.once('close', () => run.halt('aborted'))
    try {
      await this.#beforeFirstByte()
      await (stream ? this.#stream() : this.#block())
    } catch (error) {
      if (!run.halted) throw error
      if (run.state !== 'stopped') return
      if (!stream) return this.#answer(script.blocking(this.#text, 'stopped'))
      await this.#open()
      this.#end(script.closing(this.#text, 'stopped'))
    } finally {
      run.finish()
    }
  }

  async #beforeFirstByte(): Promise<void> {
    const { run, faults, stream, serverError } = this.#playback
    if (faults.has('sandbox:slow-first')) await run.pause(faults.number('sandbox:slow-first', 3_000))
    if (faults.has('sandbox:html')) throw new Refusal(proxyPage(faults.number('sandbox:html', 502)))
    if (faults.has('sandbox:html-200')) throw new Refusal(htmlPage(200, 'Welcome'))
    if (faults.has('sandbox:error-stored')) throw new Refusal(serverError)
    if (faults.has('sandbox:reset-first')) {
      this.#response.socket?.resetAndDestroy()
      run.halt('aborted')
      await run.hold()
    }
    // A blocking reply cannot carry heartbeats, so `sandbox:pings` acts like `sandbox:hang` there.
    if (faults.has('sandbox:hang') || (faults.has('sandbox:pings') && !stream)) await run.hold()
  }

  async #stream(): Promise<void> {
    const { run, script, fragments, faults } = this.#playback
    if (faults.has('sandbox:error-first')) {
      this.#response.writeHead(200, script.streamHeaders)
      return this.#end(script.failure(''))
    }
    await this.#open()
    if (faults.has('sandbox:pings')) await this.#ping(faults.number('sandbox:pings', 1_000))
    for (const [index, fragment] of fragments.entries()) {
      this.#text += fragment
      await this.#write(script.fragment(fragment, index))
      if (index === 0 && faults.has('sandbox:silence')) await run.hold()
      await run.pause(fragmentDelayMs(this.#playback))
      if (index + 1 === this.#middle && (await this.#breakOff())) return
    }
    this.#end(script.closing(this.#text, 'finished'))
  }

  async #block(): Promise<void> {
    const { run, script, fragments, faults } = this.#playback
    for (const fragment of fragments) {
      this.#text += fragment
      await run.pause(fragmentDelayMs(this.#playback))
    }
    const hasFailed = faults.has('sandbox:error-midstream') || faults.has('sandbox:error-first')
    if (hasFailed) throw new Refusal(script.blockingFailure())
    const answer = script.blocking(this.#text, 'finished')
    if (!BREAKS_A_BODY.some(faults.has)) return this.#answer(answer)
    this.#response.writeHead(answer.status, answer.headers)
    await this.#write(answer.body.slice(0, answer.body.length >> 1))
    if (faults.has('sandbox:silence')) await run.hold()
    if (!(await this.#breakOff())) this.#end()
  }

  /** Applies the faults that strike in the middle of a reply. Returns whether the reply has ended. */
  async #breakOff(): Promise<boolean> {
    const { script, faults, stream } = this.#playback
    if (faults.has('sandbox:reset')) {
      // The bytes written so far are corked until the next turn of the event loop; a reset would discard
      // them.
      await nextTurn()
      this.#response.socket?.resetAndDestroy()
      return true
    }
    if (faults.has('sandbox:truncate')) this.#end()
    else if (faults.has('sandbox:endless-line')) await this.#endlessLine()
    else if (faults.has('sandbox:error-midstream')) this.#end(script.failure(this.#text))
    else {
      // Without its last brace the frame is not JSON but keeps the event line of the dialect.
      if (faults.has('sandbox:malformed') && stream) {
        await this.#write(script.fragment('', this.#middle).replace(/\}\n\n$/, '\n\n'))
      }
      return false
    }
    return true
  }

  async #endlessLine(): Promise<void> {
    const piece = 'endless '.repeat(8_192)
    await this.#write('data: ')
    for (let sent = 0; sent < ENDLESS_LINE_BYTES; sent += piece.length) {
      if (this.#response.destroyed) return
      await this.#write(piece)
    }
    this.#end()
  }

  async #ping(everyMs: number): Promise<never> {
    const { run, script } = this.#playback
    while (!this.#response.destroyed) {
      await this.#write(script.heartbeat())
      await run.pause(everyMs)
    }
    return run.hold()
  }

  async #open(): Promise<void> {
    if (this.#response.headersSent || this.#response.destroyed) return
    this.#response.writeHead(200, this.#playback.script.streamHeaders)
    await this.#write(this.#playback.script.opening())
  }

  /** Waits for a slow reader, but not for a client that has disconnected. */
  async #write(chunk: string): Promise<void> {
    const response = this.#response
    if (chunk === '' || response.destroyed || response.write(chunk)) return
    await new Promise<void>((resolve) => {
      const ready = () => {
        response.off('drain', ready)
        response.off('close', ready)
        resolve()
      }
      response.once('drain', ready)
      response.once('close', ready)
    })
  }

  #answer({ status, headers, body }: Answer): void {
    // A run may be stopped after a fault has already sent half of its body.
    const begun = this.#response.headersSent
    if (!begun) this.#response.writeHead(status, headers)
    this.#end(begun ? '' : body)
  }

  /**
   * Finishes the run before the last byte, so that a client may start the next run as soon as it has read it.
   */
  #end(chunk = ''): void {
    this.#playback.run.finish()
    if (!this.#response.destroyed) this.#response.end(chunk)
  }
}
