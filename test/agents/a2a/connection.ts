import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Faults } from '@trunkline/sandbox/src/replies/faults.ts'
import { ResponseOutput } from '@trunkline/sandbox/src/replies/output.ts'

const BREAKS = [
  'sandbox:silence',
  'sandbox:reset',
  'sandbox:truncate',
  'sandbox:malformed',
  'sandbox:endless-line',
] as const

/** A fault that strikes amid a reply. */
export type Break = (typeof BREAKS)[number]

export function breakOf({ has }: Faults): Break | undefined {
  return BREAKS.find(has)
}

const ENDLESS_LINE_BYTES = 64 * 1024 * 1024

/**
 * The response of one request, into which the SDK writes. Its frames are counted, so that a fault can strike between two of
 * them; of a reply that is no stream, the body is cut in half.
 */
export class Connection {
  /** Resolves with the id of the task when a fault strikes a reply that is no stream. */
  readonly struck: Promise<string>
  readonly #response: ServerResponse
  readonly #isStream: boolean
  readonly #strike: (taskId: string) => void
  #break: Break | undefined
  #frames = 0
  #lastFrame = ''
  #moved = () => {}

  constructor(response: ServerResponse, isStream: boolean) {
    const { promise, resolve } = Promise.withResolvers<string>()
    this.struck = promise
    this.#strike = resolve
    this.#response = response
    this.#isStream = isStream
    const write = response.write.bind(response) as (chunk: unknown) => boolean
    const end = response.end.bind(response) as (...body: unknown[]) => ServerResponse
    response.write = (chunk: unknown) => {
      // The task goes on after a fault has ended the response, and the SDK would go on writing.
      if (response.writableEnded || response.destroyed) return true
      const isFlushed = write(chunk)
      this.#lastFrame = String(chunk)
      this.#frames += 1
      this.#moved()
      return isFlushed
    }
    response.end = (...body: unknown[]) => {
      if (this.#break === undefined) return end(...body)
      void this.#breakBody(String(body[0]), this.#break, end)
      return response
    }
    response.once('close', () => this.#moved())
  }

  /** Lets the fault strike after so many frames of a stream, or amid the body that the SDK is about to send. */
  async strike(fault: Break, taskId: string, frames: number): Promise<void> {
    if (!this.#isStream) {
      // The task store has what was published before this turn of the event loop.
      await nextTurn()
      this.#break = fault
      this.#strike(taskId)
      return
    }
    await this.#sent(frames)
    // Without its last brace the frame is not JSON.
    if (fault === 'sandbox:malformed') this.#response.write(this.#lastFrame.replace(/\}\n\n$/, '\n\n'))
    else await this.#breakOff(fault, () => this.#response.end())
  }

  /** Closes the connection after so many frames: with the end of the body, or in the midst of it. */
  async close(frames: number, how: 'ended' | 'cut'): Promise<void> {
    if (this.#isStream) await this.#sent(frames)
    await nextTurn()
    if (how === 'ended') this.#response.end()
    else this.#response.destroy()
  }

  async #sent(frames: number): Promise<void> {
    while (this.#frames < frames && !this.#response.destroyed) {
      await new Promise<void>((resolve) => {
        this.#moved = resolve
      })
    }
  }

  async #breakBody(body: string, fault: Break, end: () => void): Promise<void> {
    this.#break = undefined
    this.#response.removeHeader('content-length')
    this.#response.write(body.slice(0, body.length >> 1))
    await this.#breakOff(fault, end)
  }

  async #breakOff(fault: Break, end: () => void): Promise<void> {
    switch (fault) {
      case 'sandbox:silence':
        return
      case 'sandbox:reset':
        // A reset discards the bytes that are corked until the next turn of the event loop.
        await nextTurn()
        this.#response.socket?.resetAndDestroy()
        return
      case 'sandbox:endless-line':
        await this.#endlessLine()
        return end()
      case 'sandbox:truncate':
      case 'sandbox:malformed':
        return end()
    }
  }

  async #endlessLine(): Promise<void> {
    const output = new ResponseOutput(this.#response)
    const piece = 'endless '.repeat(8_192)
    await output.write('data: ')
    for (let sent = 0; sent < ENDLESS_LINE_BYTES && !output.destroyed; sent += piece.length)
      await output.write(piece)
  }
}
