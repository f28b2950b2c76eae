import pg from 'pg'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { isLockTimeout, writeObstacle } from '#core/base/errors/connection-error.ts'

/** What the connections of one kind of work are doing. */
export interface ShareState {
  readonly inUse: number
  /** Statements that wait for a connection. */
  readonly waiting: number
  /** Statements that got none in time, since the start. */
  readonly refused: number
}

export interface ConnectionShare {
  /** A pool without connections of its own: it takes those of the shared one, as far as the share allows it. */
  readonly pool: pg.Pool
  state(): ShareState
}

/**
 * If no connection has been released for this long, the statements that hold them are stuck, for example behind a lock. Further
 * work is then refused at once instead of waiting as well.
 */
const STUCK_MS = 500

/**
 * Divides the connections of a pool between kinds of work. Each has a bound below the number of all connections, so that no kind
 * alone can take them all from the others. Work that waits gets connections in the order of arrival.
 */
export class ConnectionShares {
  readonly #shared: pg.Pool
  readonly #waitMs: number
  readonly #elapsedMs: () => number
  readonly #watched = new WeakSet<pg.PoolClient>()
  /** Those that are not used again. */
  readonly #readOnly = new WeakSet<pg.PoolClient>()
  #waiting: Waiter[] = []
  #inUse = 0
  #movedMs = 0

  /** @param waitMs - how long a statement waits for a connection */
  constructor(shared: pg.Pool, waitMs: number, elapsedMs: () => number = () => performance.now()) {
    this.#shared = shared
    this.#waitMs = waitMs
    this.#elapsedMs = elapsedMs
  }

  /** A kind of work that takes at most `max` connections at once. */
  share(max: number): ConnectionShare {
    const taken: Taken = { max, inUse: 0, movedMs: 0, refused: 0 }
    return {
      pool: new SharePool(() => this.#connect(taken)),
      state: () => ({
        inUse: taken.inUse,
        waiting: this.#waiting.filter(({ by }) => by === taken).length,
        refused: taken.refused,
      }),
    }
  }

  /** Waits until no connection is in use. */
  close(): Promise<void> {
    return this.#shared.end()
  }

  async #connect(by: Taken): Promise<pg.PoolClient> {
    await this.#takePlace(by)
    try {
      const client = await this.#shared.connect()
      const { release } = client
      this.#watch(client)
      // The pool sets it anew whenever it gives this connection away.
      client.release = (error) => {
        // What has waited too long for a lock has done its connection no harm.
        const fault = isLockTimeout(error) ? undefined : error
        release(fault ?? this.#readOnly.has(client))
        this.#leavePlace(by)
      }
      return client
    } catch (error) {
      this.#leavePlace(by)
      throw error
    }
  }

  /**
   * A session that was opened while the database was read only, or that leads to a server that is a standby now, stays so. pg's pool
   * discards a connection after an error, but not where Prisma had it for a transaction.
   */
  #watch(client: pg.PoolClient): void {
    if (this.#watched.has(client)) return
    this.#watched.add(client)
    client.connection.on('errorMessage', (error: unknown) => {
      if (writeObstacle(error) === 'read_only') this.#readOnly.add(client)
    })
  }

  #takePlace(by: Taken): Promise<void> | undefined {
    if (this.#hasPlace(by)) {
      this.#take(by)
      return undefined
    }
    if (this.#isStuck(by)) return Promise.reject(refused(by))
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((each) => each !== waiter)
        reject(refused(by))
      }, this.#waitMs)
      timer.unref()
      const waiter: Waiter = {
        by,
        begin() {
          clearTimeout(timer)
          resolve()
        },
      }
      this.#waiting.push(waiter)
    })
  }

  #hasPlace({ inUse, max }: Taken): boolean {
    return inUse < max && this.#inUse < (this.#shared.options.max ?? 0)
  }

  #isStuck({ inUse, max, movedMs }: Taken): boolean {
    return this.#elapsedMs() - (inUse < max ? this.#movedMs : movedMs) >= STUCK_MS
  }

  #take(by: Taken): void {
    const nowMs = this.#elapsedMs()
    by.inUse += 1
    by.movedMs = nowMs
    this.#inUse += 1
    this.#movedMs = nowMs
  }

  #leavePlace(by: Taken): void {
    by.inUse -= 1
    this.#inUse -= 1
    const next = this.#waiting.find((waiter) => this.#hasPlace(waiter.by))
    if (next === undefined) return
    this.#waiting = this.#waiting.filter((each) => each !== next)
    this.#take(next.by)
    next.begin()
  }
}

interface Taken {
  readonly max: number
  inUse: number
  /** When this share last got a connection. */
  movedMs: number
  refused: number
}

interface Waiter {
  readonly by: Taken
  begin(): void
}

function refused(by: Taken): NoConnectionError {
  by.refused += 1
  return new NoConnectionError()
}

/** Looks like the error of a server that has no connection left, so that it is treated like one. */
export class NoConnectionError extends Error {
  readonly code = '53300'
  readonly severity = 'ERROR'

  constructor() {
    super('the connections of this kind of work are in use')
    this.name = 'NoConnectionError'
  }
}

type Callback = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: Error | boolean) => void,
) => void

/** What Prisma and {@link poolSql} take for a pool. pg's `query` uses `connect`. */
class SharePool extends pg.Pool {
  readonly #open: () => Promise<pg.PoolClient>

  constructor(open: () => Promise<pg.PoolClient>) {
    super()
    this.#open = open
  }

  override connect(): Promise<pg.PoolClient>
  override connect(callback: Callback): void
  override connect(callback?: Callback): Promise<pg.PoolClient> | undefined {
    const opening = markRejectionHandled(this.#open())
    if (callback === undefined) return opening
    opening.then(
      (client) => callback(undefined, client, client.release),
      (error: Error) => callback(error, undefined, () => undefined),
    )
    return undefined
  }
}
