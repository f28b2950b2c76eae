import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Faults } from '@trunkline/sandbox/src/replies/faults.ts'
import { ResponseOutput } from '@trunkline/sandbox/src/replies/output.ts'
import { asList, asRecord } from '@trunkline/sandbox/src/serving/narrow.ts'
import { textIn } from './content.ts'
import { breaksAmid } from './model.ts'
import { withoutHops } from './upstream.ts'

/** A fault that strikes amid a reply, and how many pieces of text precede it, once the model knows. */
export interface Strike {
  readonly faults: Faults
  readonly middle: () => number | undefined
}

/**
 * Passes a reply of LangGraph on, unchanged unless a fault strikes.
 *
 * @param beforeEnd - awaited before the last byte
 */
export async function relay(
  reply: IncomingMessage,
  response: ServerResponse,
  beforeEnd: () => Promise<void> = async () => {},
  strike?: Strike,
): Promise<void> {
  response.writeHead(reply.statusCode ?? 502, withoutHops(reply.headers))
  // A run that waits for its turn has sent a head and nothing else.
  response.flushHeaders()
  try {
    const isWhole = await new Relay(reply, response, strike).passOn()
    if (isWhole) await beforeEnd()
    if (!response.destroyed) response.end()
  } catch (error) {
    // LangGraph's server has been closed.
    response.destroy()
    throw error
  }
}

class Relay {
  readonly #reply: IncomingMessage
  readonly #response: ServerResponse
  readonly #output: ResponseOutput
  readonly #strike: Strike | undefined
  #pieces = 0

  constructor(reply: IncomingMessage, response: ServerResponse, strike: Strike | undefined) {
    this.#reply = reply
    this.#response = response
    this.#output = new ResponseOutput(response)
    this.#strike = strike
  }

  /** Returns whether all was passed on. */
  async passOn(): Promise<boolean> {
    for await (const frame of framesOf(this.#reply)) {
      await this.#output.write(frame)
      if (this.#strike !== undefined && (await this.#breakAfter(frame, this.#strike))) return false
    }
    return true
  }

  /** Strikes after the middle of the text. Returns whether the reply is over. */
  async #breakAfter(frame: string, { faults, middle }: Strike): Promise<boolean> {
    if (!hasText(frame)) return false
    this.#pieces += 1
    if (this.#pieces !== middle()) return false
    // Without its last bracket the frame is not JSON.
    if (faults.has('sandbox:malformed')) await this.#output.write(frame.replace(']\n', '\n'))
    if (faults.has('sandbox:endless-line')) await this.#endlessLine()
    if (faults.has('sandbox:reset')) {
      // A reset discards the bytes that are corked until the next turn of the event loop.
      await nextTurn()
      this.#output.reset()
    }
    return breaksAmid(faults)
  }

  async #endlessLine(): Promise<void> {
    const piece = 'endless '.repeat(8_192)
    await this.#output.write('data: ')
    for (let sent = 0; sent < ENDLESS_LINE_BYTES && !this.#response.destroyed; sent += piece.length)
      await this.#output.write(piece)
  }
}

const ENDLESS_LINE_BYTES = 64 * 1024 * 1024

/** Cuts a body after each frame. */
export async function* framesOf(body: IncomingMessage): AsyncGenerator<string, void, undefined> {
  let rest = ''
  for await (const chunk of body.setEncoding('utf8')) {
    const frames = (rest + chunk).split(/(?<=\n\n)/)
    rest = frames.at(-1)?.endsWith('\n\n') ? '' : (frames.pop() ?? '')
    yield* frames
  }
  if (rest !== '') yield rest
}

/** Whether the frame has a piece of an answer. */
function hasText(frame: string): boolean {
  const [, data] = /^event: messages(?:\|[^\n]*)?\ndata: ([^\n]*)\n/.exec(frame) ?? []
  if (data === undefined) return false
  const { type, content } = asRecord(asList(JSON.parse(data))[0])
  return type === 'ai' && textIn(content) !== ''
}
