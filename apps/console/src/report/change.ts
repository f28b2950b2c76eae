/** How a number has changed: its sign, and the share of what it was before. */
export interface Change {
  readonly direction: 'up' | 'down' | 'same'
  readonly share: number
}

/** Counts are exact; what rounds to nothing is no change. */
const COUNTS_DIFFER = 1.0005
/**
 * Percentiles are known by the cells of a histogram, each of which is a tenth wider than the one before. Two values in
 * neighbouring cells may be as good as equal, so only those that are further apart count as different. They are rounded
 * to four digits.
 */
const PERCENTILES_DIFFER = 1.105

/** Undefined where there is nothing to compare with. */
export function changeOf(
  now: number | null | undefined,
  before: number | null | undefined,
  kind: 'count' | 'percentile' = 'count',
): Change | undefined {
  if (now === null || now === undefined || before === null || before === undefined) return undefined
  if (now === before) return { direction: 'same', share: 0 }
  if (before === 0) return undefined
  const differ = kind === 'count' ? COUNTS_DIFFER : PERCENTILES_DIFFER
  const [less, more] = now < before ? [now, before] : [before, now]
  if (more < less * differ) return { direction: 'same', share: 0 }
  return { direction: now > before ? 'up' : 'down', share: Math.abs(now - before) / before }
}
