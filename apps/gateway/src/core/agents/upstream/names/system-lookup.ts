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
  /** How many callers wait for it. They are counted, since timers and clocks differ by a millisecond. */
  readonly needed: { by: number }
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

  function askFor(name: string, options: LookupOptions): Asking {
    const needed = { by: 1 }
    const addresses = markRejectionHandled(
      inTurn(name, options, () => needed.by > 0).finally(() => askings.delete(name)),
    )
    const asking = { addresses, needed }
    askings.set(name, asking)
    return asking
  }

  return (waitMs) =>
    lookupWith((name, options) => {
      const known = askings.get(name)
      if (known !== undefined) known.needed.by += 1
      const { addresses, needed } = known ?? askFor(name, options)
      return within(waitMs, name, addresses).finally(() => {
        needed.by -= 1
      })
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
