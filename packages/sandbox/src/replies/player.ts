import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Answer, htmlPage, Refusal } from '../serving/answer.ts'
import type { Run } from '../serving/runs.ts'
import type { Faults } from './faults.ts'
import { type Output, ResponseOutput } from './output.ts'

/**
 * The frames of one reply in a platform's protocol. A script does not deal with time, sockets or faults, and
 * the player does not depend on any platform. A `text` parameter is the run's text so far, which is less than
 * planned if the run was stopped.
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
  /** Whether the run waits for an answer after this reply. */
  readonly pauses?: boolean
}

interface ResponsePlayback extends Playback {
  /** Whether the platform aborts a run when its connection closes. */
  readonly endsWithClient: boolean
}

/**
 * Writes a reply into a response, with the faults that its query requests.
 *
 * @throws Refusal before the first byte if the reply is a plain error
 */
export async function play(response: ServerResponse, playback: ResponsePlayback): Promise<void> {
  const { run, endsWithClient } = playback
  const leave = () => run.halt('aborted')
  // The client may have disconnected already, while the platform read its files.
  if (endsWithClient && response.destroyed) leave()
  if (endsWithClient) response.once('close', leave)
  try {
    await new Player(new ResponseOutput(response), playback).play()
  } finally {
    // A run that pauses outlives the connection that has brought its question.
    response.off('close', leave)
  }
}

/** Writes the rest of a paused run for those that listen to it. The faults before the first byte have struck before the pause. */
export function playRest(output: Output, playback: Omit<Playback, 'stream'>): Promise<void> {
  return new Player(output, { ...playback, stream: true }).playRest()
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
  readonly #output: Output
  readonly #playback: Playback
  readonly #middle: number
  #ended = false

  constructor(output: Output, playback: Playback) {
    this.#output = output
    this.#playback = playback
    this.#middle = Math.max(1, playback.fragments.length >> 1)
  }

  play(): Promise<void> {
    return this.#run(async () => {
      await this.#beforeFirstByte()
      await (this.#playback.stream ? this.#stream() : this.#block())
    })
  }

  playRest(): Promise<void> {
    return this.#run(() => this.#stream())
  }

  async #run(generate: () => Promise<void>): Promise<void> {
    const { run, script, stream } = this.#playback
    try {
      await generate()
    } catch (error) {
      if (!run.halted) throw error
      if (run.state !== 'stopped') return
      if (!stream) return this.#answer(script.blocking(run.text, 'stopped'))
      await this.#open()
      this.#end(script.closing(run.text, 'stopped'))
    } finally {
      // A paused run may have been answered already.
      if (!this.#ended) run.finish()
    }
  }

  async #beforeFirstByte(): Promise<void> {
    const { run, faults, stream, serverError } = this.#playback
    if (faults.has('sandbox:slow-first')) await run.pause(faults.number('sandbox:slow-first', 3_000))
    if (faults.has('sandbox:html')) throw new Refusal(proxyPage(faults.number('sandbox:html', 502)))
    if (faults.has('sandbox:html-200')) throw new Refusal(htmlPage(200, 'Welcome'))
    if (faults.has('sandbox:error-stored')) throw new Refusal(serverError)
    if (faults.has('sandbox:reset-first')) {
      this.#output.reset()
      run.halt('aborted')
      await run.hold()
    }
    // A blocking reply cannot carry heartbeats, so `sandbox:pings` acts like `sandbox:hang` there.
    if (faults.has('sandbox:hang') || (faults.has('sandbox:pings') && !stream)) await run.hold()
  }

  async #stream(): Promise<void> {
    const { run, script, fragments, faults } = this.#playback
    if (faults.has('sandbox:error-first')) {
      this.#output.writeHead(200, script.streamHeaders)
      return this.#end(script.failure(''))
    }
    await this.#open()
    if (faults.has('sandbox:pings')) await this.#ping(faults.number('sandbox:pings', 1_000))
    for (const [index, fragment] of fragments.entries()) {
      run.say(fragment)
      await this.#output.write(script.fragment(fragment, index))
      if (index === 0 && faults.has('sandbox:silence')) await run.hold()
      await run.pause(fragmentDelayMs(this.#playback))
      if (index + 1 === this.#middle && (await this.#breakOff())) return
    }
    this.#end(script.closing(run.text, 'finished'), 'whole')
  }

  async #block(): Promise<void> {
    const { run, script, fragments, faults } = this.#playback
    for (const fragment of fragments) {
      run.say(fragment)
      await run.pause(fragmentDelayMs(this.#playback))
    }
    const hasFailed = faults.has('sandbox:error-midstream') || faults.has('sandbox:error-first')
    if (hasFailed) throw new Refusal(script.blockingFailure())
    const answer = script.blocking(run.text, 'finished')
    if (!BREAKS_A_BODY.some(faults.has)) return this.#answer(answer, 'whole')
    this.#output.writeHead(answer.status, answer.headers)
    await this.#output.write(answer.body.slice(0, answer.body.length >> 1))
    if (faults.has('sandbox:silence')) await run.hold()
    if (!(await this.#breakOff())) this.#end()
  }

  /** Applies the faults that strike in the middle of a reply. Returns whether the reply has ended. */
  async #breakOff(): Promise<boolean> {
    const { run, script, faults, stream } = this.#playback
    const output = this.#output
    if (faults.has('sandbox:reset')) {
      // The bytes written so far are corked until the next turn of the event loop; a reset would discard
      // them.
      await nextTurn()
      output.reset()
      return !output.isShared
    }
    if (faults.has('sandbox:truncate')) {
      if (!output.isShared) this.#end()
      else output.end('')
      return !output.isShared
    }
    if (faults.has('sandbox:endless-line')) await this.#endlessLine()
    else if (faults.has('sandbox:error-midstream')) this.#end(script.failure(run.text))
    else {
      // Without its last brace the frame is not JSON but keeps the event line of the dialect.
      if (faults.has('sandbox:malformed') && stream) {
        await output.write(script.fragment('', this.#middle).replace(/\}\n\n$/, '\n\n'))
      }
      return false
    }
    return true
  }

  async #endlessLine(): Promise<void> {
    const piece = 'endless '.repeat(8_192)
    await this.#output.write('data: ')
    for (let sent = 0; sent < ENDLESS_LINE_BYTES; sent += piece.length) {
      if (this.#output.destroyed) return
      await this.#output.write(piece)
    }
    this.#end()
  }

  async #ping(everyMs: number): Promise<never> {
    const { run, script } = this.#playback
    while (!this.#output.destroyed) {
      await this.#output.write(script.heartbeat())
      await run.pause(everyMs)
    }
    return run.hold()
  }

  async #open(): Promise<void> {
    if (this.#output.headersSent || this.#output.destroyed) return
    this.#output.writeHead(200, this.#playback.script.streamHeaders)
    await this.#output.write(this.#playback.script.opening())
  }

  #answer({ status, headers, body }: Answer, how?: 'whole'): void {
    // A run may be stopped after a fault has already sent half of its body.
    const begun = this.#output.headersSent
    if (!begun) this.#output.writeHead(status, headers)
    this.#end(begun ? '' : body, how)
  }

  /**
   * Finishes or suspends the run before the last byte, so that a client may start the next run, or answer, as soon as it has
   * read it.
   */
  #end(chunk = '', how?: 'whole'): void {
    const { run, pauses } = this.#playback
    this.#ended = true
    if (how === 'whole' && pauses) run.suspend()
    else run.finish()
    this.#output.end(chunk)
  }
}
