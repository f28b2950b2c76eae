/** How a number has changed: its sign, and the share of what it was before. */
export interface Change {
  readonly direction: 'up' | 'down' | 'same'
  readonly share: number
}

/** Undefined where there is nothing to compare with. */
export function changeOf(
  now: number | null | undefined,
  before: number | null | undefined,
): Change | undefined {
  if (now === null || now === undefined || before === null || before === undefined || before === 0)
    return undefined
  const share = (now - before) / before
  if (Math.abs(share) < 0.0005) return { direction: 'same', share: 0 }
  return { direction: share > 0 ? 'up' : 'down', share: Math.abs(share) }
}
