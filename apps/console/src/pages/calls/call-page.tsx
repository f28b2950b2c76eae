import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslations } from 'use-intl'
import { CallDocument } from '../../generated/graphql.ts'
import { graphqlQuery } from '../../session/queries.ts'
import { useSession } from '../../session/use-session.ts'
import { CodeWithCopy } from '../../ui/copy/code-with-copy.tsx'
import { Page } from '../../ui/page.tsx'
import { UnreadPage } from '../../ui/unread-page.tsx'
import { CallAttempts } from './call-attempts.tsx'
import { CallOrigin, CallProcess } from './call-origin.tsx'
import { CallResult } from './call-result.tsx'
import { CallTimes } from './call-times.tsx'
import styles from './calls.module.css'
import { isRunning } from './stopping/stop-call.ts'
import { StopButton, StopDialog } from './stopping/stop-dialog.tsx'

const route = getRouteApi('/shell/calls/$id')
const FOLLOW_MS = 2_000

/** What happened to one call. A running call is read again until it has ended. */
export function CallPage() {
  const t = useTranslations('calls.call')
  const { role } = useSession()
  const { id } = route.useParams()
  const [isAsking, setIsAsking] = useState(false)
  const query = useQuery({
    ...graphqlQuery(CallDocument, { id }),
    refetchInterval: ({ state }) => (state.data?.call?.outcome === null ? FOLLOW_MS : false),
  })
  const call = query.data?.call
  const shared = { title: t('title'), lead: <CodeWithCopy text={id} /> }
  if (call == null) return <UnreadPage {...shared} query={query} />
  return (
    <Page
      {...shared}
      actions={isRunning(call) && <StopButton look="danger" onStop={() => setIsAsking(true)} />}
    >
      <div className={styles.page}>
        <div className={styles.happened}>
          <CallResult call={call} />
          <CallTimes call={call} />
          <CallAttempts call={call} />
        </div>
        <div className={styles.about}>
          <CallOrigin call={call} />
          {role === 'admin' && <CallProcess call={call} />}
        </div>
      </div>
      {isAsking && <StopDialog call={call} onClose={() => setIsAsking(false)} />}
    </Page>
  )
}
