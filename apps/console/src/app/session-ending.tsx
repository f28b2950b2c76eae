import { type ComponentType, useEffect, useState } from 'react'
import { sessions } from '../session/gateway.ts'
import { useSession } from '../session/use-session.ts'
import { loadPart } from '../ui/load-part.ts'
import type { StayLoggedInProps } from './stay-logged-in.tsx'
import { texts } from './texts.ts'

/** Timers cannot wait longer. */
const TIMER_MS_MAX = 2 ** 31 - 1

/** What asks for the password before the session ends. It is loaded before it is needed, with its texts. */
export const loadStay = () =>
  Promise.all([loadPart(() => import('./stay-logged-in.tsx')), texts.loadPages()]).then(([part]) => part)

/** Asks for the password some minutes before the session ends, wherever the user is, and ends it when its time is over. */
export function SessionEnding() {
  const session = useSession()
  const { warnAtMs, expiresAtMs } = session
  const [Stay, setStay] = useState<ComponentType<StayLoggedInProps>>()
  useEffect(() => {
    setStay(undefined)
    if (expiresAtMs === 0) return
    const at = (timeMs: number, run: () => void) =>
      setTimeout(run, Math.min(Math.max(0, timeMs - Date.now()), TIMER_MS_MAX))
    const warning = at(warnAtMs, () => {
      // Where it cannot be loaded the session ends without a question.
      loadStay().then(
        ({ StayLoggedIn }) => setStay(() => StayLoggedIn),
        () => {},
      )
    })
    // Reading the current session ends it if its time is over.
    const ending = at(expiresAtMs, () => sessions.current)
    return () => {
      clearTimeout(warning)
      clearTimeout(ending)
    }
  }, [warnAtMs, expiresAtMs])
  return Stay === undefined ? null : <Stay session={session} />
}
