import { useEffect, useState } from 'react'

const MINUTE_MS = 60_000

/** The milliseconds until a time, which are counted down; negative after it. Undefined without a time. */
export function useTimeLeft(until: string | undefined): number | undefined {
  const [now, setNow] = useState(Date.now)
  const left = until === undefined ? undefined : Date.parse(until) - now
  useEffect(() => {
    if (left === undefined) return
    const timer = setTimeout(() => setNow(Date.now()), nextStep(left))
    return () => clearTimeout(timer)
  }, [left])
  return left
}

/** Seconds are counted in the last minutes alone. */
function nextStep(left: number): number {
  return Math.abs(left) < 3 * MINUTE_MS ? 1_000 : MINUTE_MS
}
