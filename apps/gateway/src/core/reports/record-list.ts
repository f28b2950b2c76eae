import { refuseField } from '#core/base/errors/errors.ts'
import { type Limiter, type OnLimit, requirePoint } from '#core/limits/limits.ts'
import type { Asking } from '#core/limits/sharing/owner-turns.ts'
import type { Reads, Slices } from '#core/limits/sharing/reads.ts'
import { allRows, BATCH_ROWS } from '#core/lists/all-rows.ts'
import { rowsOf } from '#core/requests/input/pagination.ts'
import { credentialId, type Principal } from '#core/requests/principal.ts'

/** Which page of a list to read, newest first; lists of what is only added go forwards only. */
export interface ForwardPage<Cursor = string> {
  /** The most rows. Faces read one more than a page holds, to learn whether there is a next page. */
  readonly take: number
  /** That of the last row of the page before. */
  readonly cursor?: Cursor | undefined
}

/**
 * A list of records that are only added: calls, refusals, or events of the audit log, newest first. Each page, count and
 * export takes a point of the caller's rate limit after its query has been validated, and waits for the turn of its user.
 */
export interface RecordList<Input, Row, Page = ForwardPage> {
  list(caller: Principal, input: Input, page: Page, onLimit?: OnLimit, signal?: AbortSignal): Promise<Row[]>
  /** How many of them match; null for more than 10,000, because an exact count would read all of them. */
  count(caller: Principal, input: Input, onLimit?: OnLimit, signal?: AbortSignal): Promise<number | null>
  /** All that match. The whole export takes one point. */
  export(
    caller: Principal,
    input: Input,
    onLimit?: OnLimit,
    signal?: AbortSignal,
  ): Promise<AsyncIterable<Row>>
}

/** Keys from `gte` on and below `lt`. */
export interface KeyRange<Key> {
  readonly gte?: Key
  readonly lt?: Key
}

/** The rows that match a query and that the caller may see, in the order of a key that grows with every row. */
export interface Selection<Row, Key> {
  /** Reads ranges of keys, newest first and below `before`, that together have all rows. */
  inRanges<Result>(
    before: Key | undefined,
    read: (range: KeyRange<Key>) => Promise<Result>,
  ): AsyncIterable<Result>
  /** Reads at most `take` rows of the range, newest first. */
  find(range: KeyRange<Key>, take: number): Promise<Row[]>
  /** Counts the rows of the range, and ends at `countMax`. */
  count(range: KeyRange<Key>, countMax: number): Promise<number>
}

/** What the lists of records differ in. */
export interface RecordSource<Input, Query, Row, Key, Page> {
  readonly limiter: Limiter
  /**
   * Checks what needs no database: the query, and whether the caller may read the list at all.
   *
   * @throws Problem
   */
  parse(input: Input, caller: Principal): Query
  /** @throws Problem `invalid_request` for a cursor that is of no row */
  beforeOf(page: Page): Key | undefined
  keyOf(row: Row): Key
  /** Selects the rows, in the caller's turn. An export has no page. */
  select(
    caller: Principal,
    query: Query,
    slices: Slices | undefined,
    page: Page | undefined,
  ): Promise<Selection<Row, Key>>
}

/** Larger counts are not exact anywhere, because an exact one would read the whole table. */
export const COUNT_MAX = 10_000

export function createRecordList<Input, Query, Row, Key, Page extends ForwardPage<unknown>>(
  reads: Reads,
  source: RecordSource<Input, Query, Row, Key, Page>,
): RecordList<Input, Row, Page> {
  const inTurn = <Result>(
    caller: Principal,
    asking: Omit<Asking, 'owner'>,
    read: (slices: Slices | undefined) => Promise<Result>,
  ) => reads.inTurn({ owner: caller.userId, ...asking }, read)
  return {
    async list(caller, input, page, onLimit, signal) {
      const query = source.parse(input, caller)
      requireForward(page)
      const [before, take] = [source.beforeOf(page), rowsOf(page.take)]
      await requireRead(reads, source.limiter, caller, onLimit, signal)
      return inTurn(caller, { signal }, async (slices) =>
        readNewest(await source.select(caller, query, slices, page), before, take),
      )
    },
    async count(caller, input, onLimit, signal) {
      const query = source.parse(input, caller)
      await requireRead(reads, source.limiter, caller, onLimit, signal)
      return inTurn(caller, { signal }, async (slices) =>
        countRows(await source.select(caller, query, slices, undefined)),
      )
    },
    async export(caller, input, onLimit, signal) {
      const query = source.parse(input, caller)
      await requireRead(reads, source.limiter, caller, onLimit, signal)
      return allRows((last: Row | undefined) =>
        // The rest of an export is not refused for want of a place, because it would break off in the middle.
        inTurn(caller, { signal, isContinued: last !== undefined }, async (slices) =>
          readNewest(
            await source.select(caller, query, slices, undefined),
            last === undefined ? undefined : source.keyOf(last),
            BATCH_ROWS,
          ),
        ),
      )
    },
  }
}

/**
 * Takes a point of a limit, if the read would get a place.
 *
 * @throws Problem `rate_limited`, `unavailable`
 */
export function requireRead(
  reads: Reads,
  limiter: Limiter,
  caller: Principal,
  onLimit?: OnLimit,
  signal?: AbortSignal,
): Promise<void> {
  reads.requirePlace({ owner: caller.userId, signal })
  return requirePoint(limiter, credentialId(caller), onLimit)
}

/** Reading backwards would need ranges of its own for filters that match few rows, and no face offers it. */
export function requireForward({ take }: { readonly take: number }): void {
  if (take < 0) refuseField(['last'], 'this list is read from the newest on; expected first.')
}

export async function readNewest<Row, Key>(
  selection: Selection<Row, Key>,
  before: Key | undefined,
  take: number,
): Promise<Row[]> {
  const found: Row[] = []
  if (take === 0) return found
  for await (const rows of selection.inRanges(before, (range) =>
    selection.find(range, take - found.length),
  )) {
    found.push(...rows)
    if (found.length >= take) break
  }
  return found
}

async function countRows<Row, Key>(selection: Selection<Row, Key>): Promise<number | null> {
  let counted = 0
  for await (const rows of selection.inRanges(undefined, (range) => selection.count(range, COUNT_MAX + 1))) {
    counted += rows
    if (counted > COUNT_MAX) return null
  }
  return counted
}
