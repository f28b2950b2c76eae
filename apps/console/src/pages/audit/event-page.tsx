import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { AuditEventDocument } from '../../generated/graphql.ts'
import { graphqlQuery } from '../../session/queries.ts'
import { Card, Cards } from '../../ui/card.tsx'
import { Empty, ErrorNotice, Loading } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import type { AuditDetails } from './audit-details.ts'
import { EventChange } from './event-change.tsx'
import { EventDone, EventOrigin } from './event-facts.tsx'
import { useWords } from './words.ts'

const route = getRouteApi('/shell/audit/$n')

/** One event: who did what to what, and what it has changed. */
export function EventPage() {
  const t = useTranslations('audit')
  const { n } = route.useParams()
  const number = Number(n)
  const isNumber = Number.isSafeInteger(number) && number > 0
  const { data, error, refetch } = useQuery({
    ...graphqlQuery(AuditEventDocument, { n: number }),
    enabled: isNumber,
  })
  const event = isNumber ? data?.auditEvent : null
  if (event !== undefined && event !== null) return <LoadedEvent event={event} />
  return (
    <Page title={t('event.title', { n })}>
      {error !== null && <ErrorNotice error={error} retry={refetch} />}
      {error === null && event === undefined && <Loading />}
      {event === null && (
        <Card>
          <Empty title={t('event.gone')}>
            <p>{t('event.goneHint')}</p>
          </Empty>
        </Card>
      )}
    </Page>
  )
}

function LoadedEvent({ event }: { readonly event: AuditDetails }) {
  const t = useTranslations('audit')
  const words = useWords()
  return (
    <Page title={words.operation(event.operation)} lead={t('event.title', { n: event.n })}>
      <Cards>
        <EventDone event={event} />
        <EventOrigin event={event} />
      </Cards>
      <EventChange event={event} />
    </Page>
  )
}
