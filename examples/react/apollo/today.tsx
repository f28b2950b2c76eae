import { useSubscription } from '@apollo/client/react'
import { useEffect } from 'react'
import { UsageUpdated } from '../documents.ts'
import { extensionsOf } from './client.ts'

export function Today() {
  const { data, error, restart } = useSubscription(UsageUpdated)
  useEffect(() => {
    // The process that served the subscription shuts down, or cannot be reached; another one, or the next, goes on.
    if (error === undefined || !['draining', undefined].includes(extensionsOf(error)?.code)) return
    const timer = setTimeout(restart, 1_000)
    return () => clearTimeout(timer)
  }, [error, restart])
  const today = data?.usageUpdated
  return (
    <p>
      Calls today: <output>{today?.totals.calls ?? '…'}</output>, left of the quota:{' '}
      {today?.quota.remaining ?? '…'}
    </p>
  )
}
