import { useSyncExternalStore } from 'react'
import { sessions } from './gateway.ts'
import type { Session } from './session.ts'

/** The session of a page that needs one: the router shows such pages only after a login. */
export function useSession(): Session {
  const session = useSyncExternalStore(sessions.subscribe, () => sessions.current)
  // While the page of a session that has just ended is still shown, before the router leads to the login.
  return session ?? ENDED
}

const ENDED: Session = {
  id: '',
  accessToken: '',
  expiresAtMs: 0,
  warnAtMs: 0,
  userId: '',
  username: '',
  role: 'user',
}
