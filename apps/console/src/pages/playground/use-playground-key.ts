import { useEffect, useState } from 'react'
import { sessions } from '../../session/gateway.ts'
import { PlaygroundKey } from './playground-key.ts'

/** The key of this visit, revoked when the page is left: by a link, by closing the tab, or by reloading. */
export function usePlaygroundKey(agent: string): PlaygroundKey {
  const [key] = useState(
    () =>
      new PlaygroundKey({
        baseURL: location.origin,
        agent,
        accessToken: () => sessions.current?.accessToken,
      }),
  )
  useEffect(() => {
    const revoke = () => void key.revoke()
    window.addEventListener('pagehide', revoke)
    return () => {
      window.removeEventListener('pagehide', revoke)
      revoke()
    }
  }, [key])
  return key
}
