import type { Slices } from './reads.ts'

/** What a slice has read, and where the next one begins; undefined after the last. */
export interface Slice<Place, Result> {
  readonly result: Result
  readonly next: Place | undefined
}

/**
 * Reads one slice after the other. On a server, where there are none, one slice has all rows: `rowsMax` is infinite.
 *
 * @param read - reads at most `rowsMax` rows from the place on
 */
export async function* inSlices<Place, Result>(
  slices: Slices | undefined,
  start: Place,
  read: (place: Place, rowsMax: number) => Promise<Slice<Place, Result>>,
): AsyncGenerator<Result> {
  let slice: Slice<Place, Result> | undefined
  do {
    const place = slice?.next ?? start
    slice = await (slices?.run((rowsMax) => read(place, rowsMax)) ?? read(place, Number.POSITIVE_INFINITY))
    yield slice.result
  } while (slice.next !== undefined)
}

/** Rows in the order of a key, divided into ranges. */
export interface Ranges<Key> {
  /** The key at which the first range begins; without it, that of the first row. */
  readonly start?: Key | undefined
  /** The key that is `rowsMax` rows further; undefined if fewer rows are left. */
  next(from: Key | undefined, rowsMax: number): Promise<Key | undefined>
}

/**
 * The same for rows whose order is that of a key. Either end of a range may be open. Each key and each range is a slice of its
 * own, since finding a key takes much less time than reading as many rows.
 */
export async function* inRanges<Key, Result>(
  slices: Slices | undefined,
  { start, next }: Ranges<Key>,
  read: (from: Key | undefined, to: Key | undefined) => Promise<Result>,
): AsyncGenerator<Result> {
  let from = start
  do {
    const first = from
    const to = await slices?.run((rowsMax) => next(first, rowsMax))
    yield await (slices?.run(() => read(first, to)) ?? read(first, to))
    from = to
  } while (from !== undefined)
}
