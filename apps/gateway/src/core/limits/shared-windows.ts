import { createHash, randomBytes } from 'node:crypto'
import type { Redis } from 'ioredis'
import { withDeadline } from '#core/deadline.ts'
import { handled } from '#core/handled.ts'
import type { LimitWindow, Windows } from './windows.ts'

/** One point taken, if there are so many, or one given back. */
export type Change = { readonly take: number } | 'give back'

/** A window as it is in Redis after a change. */
export interface SharedCount {
  readonly count: number
  readonly msLeft: number
  /** Whether there was room for the change. */
  readonly isDone: boolean
}

/** The windows of one limit, as all processes count them. */
export interface SharedWindows {
  /**
   * Changes the count of all processes, and adds to it what this process has counted alone; undefined where Redis is down or
   * slow.
   */
  change(key: string, change: Change): Promise<SharedCount | undefined>
}

/** A Redis that answers later than this is not waited for. */
const ANSWER_WITHIN_MS = 200
/** After a failure Redis is left alone for so long: not every call has to find out anew. */
const LEFT_ALONE_MS = 500
/**
 * A process takes a window for over by so much earlier than Redis, whose clock runs a little differently: otherwise it would
 * carry the count of the last moment over into the next window.
 */
const END_EARLY_MS = 50
/** Windows that are handed over to a Redis that is back, at a time. */
const HANDED_OVER_AT_ONCE = 200

export function createSharedStore(
  redis: Redis,
  observer: { storeAnswers(answers: boolean, error?: unknown): void },
): (policy: string, windows: Windows) => SharedWindows {
  const limits: { readonly windows: Windows; nameOf(key: string): string }[] = []
  let leftAloneUntilMs = 0
  let answers = true

  const tell = (isAnswering: boolean, error?: unknown) => {
    if (isAnswering === answers) return
    answers = isAnswering
    observer.storeAnswers(isAnswering, error)
  }

  // What the others have counted alone must be known before this process is asked the next time.
  redis.on('ready', () => {
    handOver().catch(() => {
      // It has gone again. What it did not take goes with the next question about the same caller.
    })
  })

  async function handOver(): Promise<void> {
    for (const { windows, nameOf } of limits) {
      const live = [...windows.live()]
      while (live.length > 0) {
        const some = live.splice(0, HANDED_OVER_AT_ONCE)
        await Promise.all(some.map(([key, window]) => put(redis, nameOf(key), undefined, window)))
      }
    }
  }

  return (policy, windows) => {
    const nameOf = (key: string) => `trunkline:limit:${policy}:${key}`
    limits.push({ windows, nameOf })
    return {
      async change(key, change) {
        if (redis.status !== 'ready' || performance.now() < leftAloneUntilMs) {
          tell(false)
          return undefined
        }
        try {
          const asked = handled(put(redis, nameOf(key), change, windows.open(key)))
          const count = await withDeadline(ANSWER_WITHIN_MS, asked)
          tell(true)
          return count
        } catch (error) {
          leftAloneUntilMs = performance.now() + LEFT_ALONE_MS
          tell(false, error)
          return undefined
        }
      },
    }
  }
}

/** Brings both up to date, Redis and what this process knows; without a change, that alone. */
async function put(
  redis: Redis,
  name: string,
  change: Change | undefined,
  window: LimitWindow,
): Promise<SharedCount> {
  const startedMs = performance.now()
  const owed = window.own - window.sent
  window.sent += owed
  try {
    const { id, ...answer } = await evaluate(redis, name, [
      ...[
        change === undefined ? 0 : change === 'give back' ? -1 : 1,
        owed,
        window.seen,
        window.id,
        freshId(),
      ],
      Math.max(1, Math.ceil(window.endsAtMs - startedMs)),
      typeof change === 'object' ? change.take : 0,
    ])
    window.own -= owed
    if (id !== '') {
      window.id = id
      // Answers come in the order of the questions.
      window.seen = answer.count
      window.endsAtMs = startedMs + answer.msLeft - END_EARLY_MS
    }
    return answer
  } finally {
    window.sent -= owed
  }
}

const PROCESS = randomBytes(9).toString('base64url')
let windowsNamed = 0

function freshId(): string {
  windowsNamed += 1
  return `${PROCESS}${windowsNamed}`
}

/**
 * KEYS: the window. ARGV: the change, what the process has counted alone, the count and the window that it last saw here, a
 * name for a fresh window, how long that lasts, and how many points there are. Answers the count, the milliseconds that are
 * left, the window's name, and whether the change was made: what is refused does not count.
 *
 * A Redis that comes back empty is given its count again by the processes that know it. They may have seen it at different
 * moments, so the greatest counts, as `base`; what each has counted alone since then is added to `n`, as ever.
 */
const ADD = `
local stored = redis.call('HMGET', KEYS[1], 'id', 'n', 'base')
local id, n, base = stored[1], tonumber(stored[2] or 0), tonumber(stored[3] or 0)
local change, owed, seen, done = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), 1
local isFresh = not id
if isFresh or (ARGV[4] ~= '' and ARGV[4] ~= id) then base = math.max(base, seen) end
n = n + owed
if change > 0 and n + base >= tonumber(ARGV[7]) then done = 0 else n = n + change end
if isFresh then
  if n + base <= 0 then return {0, tonumber(ARGV[6]), '', done} end
  id = ARGV[5]
end
redis.call('HSET', KEYS[1], 'id', id, 'n', n)
if base > 0 then redis.call('HSET', KEYS[1], 'base', base) end
if isFresh then redis.call('PEXPIRE', KEYS[1], ARGV[6]) end
return {n + base, redis.call('PTTL', KEYS[1]), id, done}`

const ADD_SHA = createHash('sha1').update(ADD).digest('hex')

async function evaluate(redis: Redis, key: string, values: readonly (string | number)[]) {
  const answer = await redis.evalsha(ADD_SHA, 1, key, ...values).catch((error: unknown) => {
    // A Redis that has started anew does not know the script yet.
    if (error instanceof Error && error.message.startsWith('NOSCRIPT')) {
      return redis.eval(ADD, 1, key, ...values)
    }
    throw error
  })
  const [count, msLeft, id, done]: unknown[] = Array.isArray(answer) ? answer : []
  if (typeof count === 'number' && typeof msLeft === 'number' && typeof id === 'string') {
    return { count, msLeft, id, isDone: done === 1 }
  }
  throw new Error('Redis answered a limit with something else')
}
