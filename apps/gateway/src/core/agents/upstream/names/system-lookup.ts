import { type LookupAddress, type LookupOptions, lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { promisify } from 'node:util'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { lookupError, lookupWith } from './lookup-answer.ts'

/** Of the four threads of the pool. The other two are left to files and to the hashes of passwords. */
const AT_ONCE = 2

type Ask = (name: string, options: LookupOptions & { all: true }) => Promise<LookupAddress[]>

/** A look-up that has begun or waits for its turn. */
interface Asking {
  readonly addresses: Promise<readonly LookupAddress[]>
  /** `untilMs` is when the last of those who need it gives up. */
  readonly needed: { untilMs: number }
}

/**
 * Makes look-ups by the system, as `getaddrinfo` does, two names at a time, and each name once for all callers that need it. A
 * look-up is not made if no caller needs it any more when its turn comes.
 *
 * @returns a function that makes look-ups which fail with `ETIMEOUT` after so many milliseconds
 */
export function createSystemLookup(ask: Ask = promisify(lookup)): (waitMs: number) => LookupFunction {
  const askings = new Map<string, Asking>()
  const waiting: (() => void)[] = []
  let running = 0

  async function inTurn(
    name: string,
    { hints = 0 }: LookupOptions,
    isNeeded: () => boolean,
  ): Promise<readonly LookupAddress[]> {
    if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve))
    else running += 1
    try {
      if (!isNeeded()) throw lookupError('ETIMEOUT', name)
      return await ask(name, { hints, all: true })
    } finally {
      // The turn is handed over directly, so that no other look-up can take it in between.
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }

  function askFor(name: string, options: LookupOptions, untilMs: number): Asking {
    const needed = { untilMs }
    const addresses = markRejectionHandled(
      inTurn(name, options, () => performance.now() < needed.untilMs).finally(() => askings.delete(name)),
    )
    const asking = { addresses, needed }
    askings.set(name, asking)
    return asking
  }

  return (waitMs) =>
    lookupWith((name, options) => {
      const untilMs = performance.now() + waitMs
      const { addresses, needed } = askings.get(name) ?? askFor(name, options, untilMs)
      needed.untilMs = Math.max(needed.untilMs, untilMs)
      return within(waitMs, name, addresses)
    })
}

/** The look-ups of the process, which has one pool of threads. */
export const systemLookup = createSystemLookup()

function within<Result>(waitMs: number, name: string, work: Promise<Result>): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  const timer = setTimeout(() => reject(lookupError('ETIMEOUT', name)), waitMs)
  markRejectionHandled(work.then(resolve, reject).finally(() => clearTimeout(timer)))
  return promise
}
