import { useEffect, useState } from 'react'
import { UsageUpdatedDocument } from '../../generated/graphql.ts'
import { gql } from '../../session/gateway.ts'
import { endRefusedSession, isRateLimited } from '../../session/queries.ts'
import type { LiveUsage } from './live-totals.ts'

interface Live {
  readonly usage?: LiveUsage
  readonly state: 'opening' | 'live' | 'lost'
}

const RETRY_MS = 15_000
const RETRY_MS_MAX = 120_000

/**
 * Follows the usage of today from the moment that `isWanted` holds, while the tab is visible: a hidden one costs the gateway
 * nothing. A subscription that ends is opened again, later each time that it fails.
 */
export function useLiveUsage(isWanted: boolean): Live {
  const [live, setLive] = useState<Live>({ state: 'opening' })
  useEffect(() => {
    if (!isWanted) return
    let leaving: AbortController | undefined
    let timer: ReturnType<typeof setTimeout> | undefined
    let failures = 0

    async function follow() {
      const controller = new AbortController()
      const { signal } = controller
      leaving = controller
      let delayMs: number | undefined
      try {
        for await (const { usageUpdated } of gql.subscribe(UsageUpdatedDocument, {}, { signal })) {
          if (usageUpdated === null) break
          failures = 0
          setLive({ usage: usageUpdated, state: 'live' })
        }
      } catch (error) {
        endRefusedSession(error)
        // The reports, which are read instead, show what else is wrong.
        if (isRateLimited(error)) delayMs = error.retryAfterMs
      }
      if (signal.aborted) return
      setLive(({ usage }) => ({ ...(usage !== undefined && { usage }), state: 'lost' }))
      timer = setTimeout(follow, delayMs ?? Math.min(RETRY_MS * 2 ** failures++, RETRY_MS_MAX))
    }

    function stop() {
      clearTimeout(timer)
      leaving?.abort()
      leaving = undefined
    }

    function followWhileVisible() {
      stop()
      if (document.visibilityState === 'visible') void follow()
    }

    followWhileVisible()
    document.addEventListener('visibilitychange', followWhileVisible)
    return () => {
      document.removeEventListener('visibilitychange', followWhileVisible)
      stop()
    }
  }, [isWanted])
  return live
}
