import { useEffect, useState } from 'react'
import { useFormats } from '../../../format/use-formats.ts'

const EVERY_MS = 1_000

/** How long a call has been running, by the clock of this machine. */
export function Elapsed({ since }: { readonly since: string }) {
  const { duration } = useFormats()
  const [nowMs, setNowMs] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  // The clock of the gateway may be ahead.
  const elapsedMs = Math.max(0, nowMs - Date.parse(since))
  // A timer is not read out again with each second.
  return <span role="timer">{duration(Math.floor(elapsedMs / EVERY_MS) * EVERY_MS)}</span>
}
