import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Answer, htmlPage, Refusal } from './answer.ts'
import type { Faults } from './faults.ts'
import type { Run } from './runs.ts'

/**
 * One reply in a platform's own words. Nothing here knows of time, sockets or faults, and the player knows of no
 * platform. A text is what was generated until then: less than planned where the run was stopped.
 */
export interface Script {
  readonly streamHeaders: Readonly<Record<string, string>>
  /** Frames before the text. */
  opening(): string
  fragment(text: string, index: number): string
  /** Frames after the text, the end marker last. */
  closing(text: string, end: 'finished' | 'stopped'): string
  /** Frames of a run that fails after some text. */
  failure(text: string): string
  heartbeat(): string
  /** The whole reply for a client that does not stream. */
  blocking(text: string, end: 'finished' | 'stopped'): Answer
  /** The same, of a run that failed. */
  blockingFailure(): Answer
}

export interface Part {
  readonly run: Run
  readonly script: Script
  readonly fragments: readonly string[]
  readonly faults: Faults
  readonly delayMs: number
  readonly stream: boolean
  /** Whether the platform gives up a run when its connection is gone. */
  readonly endsWithClient: boolean
}

/** Generates a reply into a response, with the faults its query asked for. */
export function play(response: ServerResponse, part: Part): Promise<void> {
  return new Player(response, part).play()
}

/** The same without a reader, for a platform that is asked for the result later. */
export async function generate(part: Pick<Part, 'run' | 'fragments' | 'faults' | 'delayMs'>): Promise<void> {
  const { run, fragments, faults } = part
  const stuck = ['sandbox:hang', 'sandbox:pings', 'sandbox:silence'] as const
  try {
    if (faults.has('sandbox:slow-first')) await run.pause(faults.number('sandbox:slow-first', 3_000))
    if (stuck.some(faults.has)) await run.hold()
    for (const _ of fragments) await run.pause(paceOf(part))
  } catch (error) {
    if (!run.halted) throw error
  } finally {
    run.finish()
  }
}

function paceOf({ faults, delayMs }: Pick<Part, 'faults' | 'delayMs'>): number {
  return faults.has('sandbox:slow') ? faults.number('sandbox:slow', 100) : delayMs
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
  readonly #part: Part
  readonly #middle: number
  #text = ''

  constructor(response: ServerResponse, part: Part) {
    this.#response = response
    this.#part = part
    this.#middle = Math.max(1, part.fragments.length >> 1)
  }

  async play(): Promise<void> {
    const { run, script, stream, endsWithClient } = this.#part
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
    const { run, faults, stream } = this.#part
    if (faults.has('sandbox:slow-first')) await run.pause(faults.number('sandbox:slow-first', 3_000))
    if (faults.has('sandbox:html')) throw new Refusal(htmlPage(502, '502 Bad Gateway'))
    if (faults.has('sandbox:html-200')) throw new Refusal(htmlPage(200, 'Welcome'))
    // A blocking reply has no place for heartbeats: there it is the same silence.
    if (faults.has('sandbox:hang') || (faults.has('sandbox:pings') && !stream)) await run.hold()
  }

  async #stream(): Promise<void> {
    const { run, script, fragments, faults } = this.#part
    await this.#open()
    if (faults.has('sandbox:pings')) await this.#ping(faults.number('sandbox:pings', 1_000))
    for (const [index, fragment] of fragments.entries()) {
      this.#text += fragment
      await this.#write(script.fragment(fragment, index))
      if (index === 0 && faults.has('sandbox:silence')) await run.hold()
      await run.pause(paceOf(this.#part))
      if (index + 1 === this.#middle && (await this.#breakOff())) return
    }
    this.#end(script.closing(this.#text, 'finished'))
  }

  async #block(): Promise<void> {
    const { run, script, fragments, faults } = this.#part
    for (const fragment of fragments) {
      this.#text += fragment
      await run.pause(paceOf(this.#part))
    }
    if (faults.has('sandbox:error-midstream')) throw new Refusal(script.blockingFailure())
    const answer = script.blocking(this.#text, 'finished')
    if (!BREAKS_A_BODY.some(faults.has)) return this.#answer(answer)
    this.#response.writeHead(answer.status, answer.headers)
    await this.#write(answer.body.slice(0, answer.body.length >> 1))
    if (faults.has('sandbox:silence')) await run.hold()
    if (!(await this.#breakOff())) this.#end()
  }

  /** Whether the reply ended here. */
  async #breakOff(): Promise<boolean> {
    const { script, faults, stream } = this.#part
    if (faults.has('sandbox:reset')) {
      // The bytes written so far are corked until the next turn; a reset would throw them away.
      await nextTurn()
      this.#response.socket?.resetAndDestroy()
      return true
    }
    if (faults.has('sandbox:truncate')) this.#end()
    else if (faults.has('sandbox:endless-line')) await this.#endlessLine()
    else if (faults.has('sandbox:error-midstream')) this.#end(script.failure(this.#text))
    else {
      // A frame without its last brace keeps the dialect's event line and still is not JSON.
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
    const { run, script } = this.#part
    while (!this.#response.destroyed) {
      await this.#write(script.heartbeat())
      await run.pause(everyMs)
    }
    return run.hold()
  }

  async #open(): Promise<void> {
    if (this.#response.headersSent || this.#response.destroyed) return
    this.#response.writeHead(200, this.#part.script.streamHeaders)
    await this.#write(this.#part.script.opening())
  }

  /** Waits for a slow reader; a client that left takes nothing and delays nothing. */
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
    // A stopped run may be amid its broken body.
    const begun = this.#response.headersSent
    if (!begun) this.#response.writeHead(status, headers)
    this.#end(begun ? '' : body)
  }

  /** Finished before the last byte: whoever reads it may at once begin the next run in the conversation. */
  #end(chunk = ''): void {
    this.#part.run.finish()
    if (!this.#response.destroyed) this.#response.end(chunk)
  }
}
