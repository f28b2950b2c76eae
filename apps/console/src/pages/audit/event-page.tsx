import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import { AuditEventDocument, type AuditEventQuery } from '../../generated/graphql.ts'
import { RowFacts } from '../../lists/row-facts.tsx'
import { graphqlQuery } from '../../session/queries.ts'
import { Card, Cards } from '../../ui/card.tsx'
import { CodeWithCopy } from '../../ui/copy/code-with-copy.tsx'
import { Empty, ErrorNotice, Loading } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import styles from './audit.module.css'
import { useAuditNames } from './audit-names.ts'
import { type ComparedField, compareStates } from './compare-states.ts'
import { ResultBadge } from './result-badge.tsx'
import { Target } from './target.tsx'
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

interface EventProps {
  readonly event: AuditDetails
}

/** What was done, to what and with which result. */
function EventDone({ event }: EventProps) {
  const t = useTranslations('audit')
  const { moment, count } = useFormats()
  const { at, operation, result, reason, target, hash } = event
  return (
    <Card title={t('event.done')} aside={<ResultBadge result={result} />}>
      <RowFacts
        of="audit"
        row={event}
        facts={[
          [t('time'), moment(at)],
          [t('operation'), <code key="operation">{operation}</code>],
          [t('event.reason'), reason && <code key="reason">{reason}</code>],
          [t('event.count'), event.count > 1 ? count(event.count) : null],
          [t('target'), target && <Target key="target" event={event} />],
          [t('hash'), <CodeWithCopy key="hash" text={hash} />],
        ]}
      />
    </Card>
  )
}

/** Who did it, from where. */
function EventOrigin({ event }: EventProps) {
  const t = useTranslations('audit')
  const words = useWords()
  return (
    <Card title={t('who')}>
      <RowFacts
        of="audit"
        row={event}
        facts={[
          [t('event.actor'), words.actor(event.actor)],
          ...(['user', 'key', 'tokenId', 'name', 'address', 'requestId'] as const),
        ]}
      />
    </Card>
  )
}

/** What the event is about, before and after, field by field. Nothing where it has no state, as for a login. */
function EventChange({ event: { before, after } }: { readonly event: AuditDetails }) {
  const t = useTranslations('audit.event')
  const fields = compareStates(before, after)
  if (fields.length === 0) return null
  return (
    <Card title={t('change')} isFlush>
      <Table label={t('changeByField')}>
        <thead>
          <tr>
            <th scope="col">{t('field')}</th>
            <th scope="col">{t('before')}</th>
            <th scope="col">{t('after')}</th>
          </tr>
        </thead>
        <tbody>
          {fields.map((field) => (
            <FieldRow key={field.name} field={field} isMarked={before !== null && after !== null} />
          ))}
        </tbody>
      </Table>
    </Card>
  )
}

interface FieldRowProps {
  readonly field: ComparedField
  /** Where all is new or gone, nothing stands out. */
  readonly isMarked: boolean
}

function FieldRow({ field: { name, before, after, hasChanged }, isMarked }: FieldRowProps) {
  const t = useTranslations('audit.event')
  const names = useAuditNames()
  return (
    <tr className={hasChanged && isMarked ? styles.changed : undefined}>
      <th scope="row">
        <code>{name}</code>
        {hasChanged && isMarked && <span className="visually-hidden"> {t('hasChanged')}</span>}
      </th>
      <td className={styles.value}>
        {before === undefined ? '–' : <code>{names.value(name, before)}</code>}
      </td>
      <td className={styles.value}>{after === undefined ? '–' : <code>{names.value(name, after)}</code>}</td>
    </tr>
  )
}

/** An event with everything that its page shows. */
type AuditDetails = NonNullable<AuditEventQuery['auditEvent']>
