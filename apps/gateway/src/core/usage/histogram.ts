/**
 * A sparse logarithmic histogram: bucket `i` holds values up to {@link GROWTH} to the power of `i`, in milliseconds. Two of
 * them merge by adding, and a quantile is at most 4.8 % off: the middle of a bucket is (GROWTH − 1) / (GROWTH + 1) from its edges.
 */
export type Histogram = Readonly<Record<string, number>>

/** Written out in the settlement's SQL as well. */
export const GROWTH = 1.1

export interface Quantiles {
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

/** Null where nothing was counted. */
export function quantiles(histogram: Histogram): Quantiles | null {
  let total = 0
  for (const index in histogram) total += histogram[index] ?? 0
  if (total === 0) return null
  return {
    p50: quantile(histogram, total * 0.5),
    p95: quantile(histogram, total * 0.95),
    p99: quantile(histogram, total * 0.99),
  }
}

/** One histogram for several. */
export function merge(histograms: Iterable<Histogram>): Histogram {
  // Keys that are small whole numbers make a plain object as fast as an array, and keep themselves in order.
  const merged: Record<string, number> = {}
  for (const histogram of histograms) {
    for (const index in histogram) merged[index] = (merged[index] ?? 0) + Number(histogram[index])
  }
  return merged
}

/**
 * One histogram for many, the JSON of each after the other. By hand, since a report may have hundreds of thousands of cells: as objects
 * they cost several times as much, most of it for keys that become strings and numbers again.
 */
export function readHistograms(json: string, sign = 1): Histogram {
  const counts: Record<string, number> = {}
  let index = 0
  let number = 0
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at)
    if (code >= ZERO && code <= NINE) {
      number = number * 10 + code - ZERO
    } else if (code === COLON) {
      index = number
      number = 0
    } else if (number > 0 && (code === COMMA || code === BRACE)) {
      counts[index] = (counts[index] ?? 0) + sign * number
      number = 0
    }
  }
  return counts
}

const [ZERO, NINE, COLON, COMMA, BRACE] = [48, 57, 58, 44, 125]

function quantile(histogram: Histogram, rank: number): number {
  let counted = 0
  // Whole numbers come in their order.
  for (const index in histogram) {
    counted += histogram[index] ?? 0
    if (counted >= rank) return middle(Number(index))
  }
  return Number.NaN
}

/** The value whose relative distance to both edges of the bucket is the same; a whole number would be farther from 13 ms. */
function middle(index: number): number {
  return index <= 0 ? 1 : Number(((2 * GROWTH ** index) / (GROWTH + 1)).toPrecision(4))
}
