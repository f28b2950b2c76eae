import { atMost } from '#core/base/async/at-most.ts'
import { type Batcher, type BatcherOptions, createBatcher } from '#core/base/async/batcher.ts'
import { InFlight } from '#core/base/async/in-flight.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import {
  concernsDatabase,
  isConflict,
  isDataError,
  isLostConnection,
  isStatementTimeout,
} from '#core/base/errors/connection-error.ts'
import type { Runtime } from '#core/base/runtime.ts'
import { type Settlement, withoutTexts } from './settlement-row.ts'
import { type SettlementWait, SettlementWaits } from './settlement-waits.ts'

/** Settlements of this process that are not written yet. */
export interface SettlementBacklog {
  readonly waiting: number
  /** For how long the oldest has waited; 0 if none does. */
  readonly oldestMs: number
}

export interface SettlerDeps {
  /** Writes a batch in one statement. It may be repeated, since what is settled stays as it is. */
  readonly write: (batch: readonly Settlement[]) => Promise<void>
  /** The same, for calls whose `Idempotency-Key` is free again then, and the pause that they have claimed open. */
  readonly writeFreeing: (batch: readonly Settlement[]) => Promise<void>
  readonly runtime: Pick<Runtime, 'elapsedMs'>
  /** The database refused the values of a call, which is settled as `interrupted` and without its texts. */
  onReduced(error: unknown, callId: string): void
}

type Write = Batcher<Settlement, void>

/** An end that is not written yet. */
interface Unwritten {
  readonly settlement: Settlement
  readonly write: Write
  readonly sinceMs: number
  failures: number
  remove: () => void
  /** Set while it waits for its next attempt. */
  timer?: NodeJS.Timeout | undefined
}

/** No client waits for a settlement, and a statement and its rollups cost the same for one call as for fifty. */
const SETTLE_EVERY_MS = 20
const RETRY_AFTER_MS = 100
/** An outage ends at once for all of them, and a connection that is refused costs the server nothing. */
const LOST_RETRY_AFTER_MS_MAX = 500
/** On a full disk every failed statement leaves something behind as well. */
const RETRY_AFTER_MS_MAX = 5_000
/** For what fails even by itself, such as behind a lock: what all have in common is unknown, so each of them costs statements. */
const RETRY_SLOW_AFTER_MS_MAX = 30_000
/** A conflict is over when its statement has failed, but many processes may meet the same one again and again. */
const CONFLICTS_REPEATED_AT_ONCE = 5
/** The times after which the settlement of a call whose admission was not answered is repeated. */
const LATE_SETTLEMENTS_MS = [2_000, 4_000, 8_000, 30_000]

/**
 * Writes the ends of calls in the background, in batches, and repeats each until the database takes it: a row that stays open
 * counts as a running call for as long as this process lives. Only values that the database refuses are not repeated as they are.
 */
export class Settler {
  readonly #deps: SettlerDeps
  readonly #write: Write
  readonly #writeFreeing: Write
  readonly #waits = new SettlementWaits()
  readonly #unwritten = new InFlight<Unwritten>()
  #whenWritten: (() => void) | undefined
  #isClosing = false
  #isClosed = false

  constructor(deps: SettlerDeps) {
    this.#deps = deps
    this.#write = createBatcher<Settlement>(deps.write, BATCHES)
    this.#writeFreeing = createBatcher<Settlement>(deps.writeFreeing, BATCHES)
  }

  settle(settlement: Settlement, write: Write = this.#write): void {
    const sinceMs = this.#deps.runtime.elapsedMs()
    const end: Unwritten = { settlement, write, sinceMs, failures: 0, remove: () => undefined }
    end.remove = this.#unwritten.add(end)
    this.#attempt(end)
  }

  /**
   * Settles a call of which it is unknown whether it was counted. The server may run the admission after the settlement, since
   * they have separate connections, so the settlement is repeated; what is settled already stays as it is. The delays begin when
   * the server has answered, since a server that did not respond for minutes may run the admission last.
   */
  settleLate(
    settlement: Settlement,
    freesClaims: boolean,
    [delayMs, ...later]: readonly number[] = LATE_SETTLEMENTS_MS,
  ): void {
    const { written } = this.#waits.begin(settlement.callId)
    this.settle(settlement, freesClaims ? this.#writeFreeing : this.#write)
    if (delayMs === undefined) return
    markRejectionHandled(
      written.then(() => {
        if (!this.#isClosing)
          setTimeout(() => this.settleLate(settlement, freesClaims, later), delayMs).unref()
      }),
    )
  }

  awaitSettlement(callId: string): SettlementWait {
    return this.#waits.begin(callId)
  }

  /** How many ends are not written yet. */
  get waiting(): number {
    return this.#unwritten.size
  }

  backlog(): SettlementBacklog {
    const nowMs = this.#deps.runtime.elapsedMs()
    const oldestMs = this.#unwritten.all().reduce((most, { sinceMs }) => Math.max(most, nowMs - sinceMs), 0)
    return { waiting: this.waiting, oldestMs }
  }

  /** The calls whose ends have waited for so long, the oldest first and at most `countMax`. */
  late(waitedMs: number, countMax: number): string[] {
    const untilMs = this.#deps.runtime.elapsedMs() - waitedMs
    return this.#unwritten
      .all()
      .filter(({ sinceMs }) => sinceMs <= untilMs)
      .sort((a, b) => a.sinceMs - b.sinceMs)
      .slice(0, countMax)
      .map(({ settlement }) => settlement.callId)
  }

  /** Waits until every end is written, at most `timeoutMs`, and stops repeating them; returns how many are not written. */
  async close(timeoutMs: number): Promise<number> {
    this.#isClosing = true
    // What pauses would not come again in time.
    for (const end of this.#unwritten.all()) if (end.timer !== undefined) this.#attempt(end)
    const allWritten = new Promise<void>((resolve) => {
      if (this.waiting === 0) resolve()
      else this.#whenWritten = resolve
    })
    await atMost(timeoutMs, allWritten)
    this.#isClosed = true
    const lost = this.#unwritten.all()
    for (const { settlement } of lost) this.#waits.end(settlement.callId)
    return lost.length
  }

  /** Uses callbacks, because an async function would cost every call two more promises. */
  #attempt(end: Unwritten): void {
    clearTimeout(end.timer)
    end.timer = undefined
    end.write(end.settlement).then(
      () => this.#over(end),
      (error: unknown) => this.#failed(end, error),
    )
  }

  #failed(end: Unwritten, error: unknown): void {
    // Its batch was halved until it was alone.
    if (isDataError(error)) this.#reduce(end, error)
    else this.#repeat(end, error)
  }

  #reduce(end: Unwritten, cause: unknown): void {
    end.write(withoutTexts(end.settlement)).then(
      () => {
        this.#deps.onReduced(cause, end.settlement.callId)
        this.#over(end)
      },
      (error: unknown) => this.#repeat(end, error),
    )
  }

  #repeat(end: Unwritten, error: unknown): void {
    if (this.#isClosed) {
      this.#over(end)
      return
    }
    end.failures += 1
    const pauseMs = pauseAfter(error, end.failures)
    const mayPauseMs = this.#isClosing ? RETRY_AFTER_MS : Number.POSITIVE_INFINITY
    end.timer = setTimeout(() => this.#attempt(end), Math.min(pauseMs, mayPauseMs)).unref()
  }

  /** It is written, or given up because the process ends. */
  #over(end: Unwritten): void {
    if (this.#waits.size > 0) this.#waits.end(end.settlement.callId)
    end.remove()
    if (this.waiting === 0) this.#whenWritten?.()
  }
}

const BATCHES: BatcherOptions = {
  sizeMax: 1_000,
  isShared,
  isTooSlow: isStatementTimeout,
  gather: (send) => setTimeout(send, SETTLE_EVERY_MS).unref(),
}

function pauseAfter(error: unknown, failures: number): number {
  if (isConflict(error) && failures <= CONFLICTS_REPEATED_AT_ONCE) return 0
  return Math.min(RETRY_AFTER_MS * 2 ** (failures - 1), pauseMsMax(error))
}

function pauseMsMax(error: unknown): number {
  if (isLostConnection(error)) return LOST_RETRY_AFTER_MS_MAX
  return isShared(error) ? RETRY_AFTER_MS_MAX : RETRY_SLOW_AFTER_MS_MAX
}

/** Whether smaller batches would fail in the same way. */
function isShared(error: unknown): boolean {
  return concernsDatabase(error) || isConflict(error)
}
