import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl'
import { CountedRefusals } from '../../find/counted-refusals.tsx'
import { useFormats } from '../../format/use-formats.ts'
import { type RefusalFieldsFragment, RefusalsDocument } from '../../generated/graphql.ts'
import { RecordLink } from '../../lists/record-link.tsx'
import { RowFacts } from '../../lists/row-facts.tsx'
import { graphqlQuery } from '../../session/queries.ts'
import { useSession } from '../../session/use-session.ts'
import { Card, Cards } from '../../ui/card.tsx'
import { CodeWithCopy } from '../../ui/copy/code-with-copy.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Empty, ErrorNotice, Loading } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { adviceOf } from './advice.ts'
import { useAgentName } from './group-names.ts'
import { settingOf, useAllowed, useLimitName } from './limit-name.ts'
import styles from './refusals.module.css'
import { RefusalsTable } from './refusals-table.tsx'
import { StatusBadge } from './status-badge.tsx'

const route = getRouteApi('/shell/refusals/$requestId')

/** Why one request was refused. Where its refusal is not kept, the page says what is. */
export function RefusalPage() {
  const t = useTranslations('refusals.refusal')
  const { requestId } = route.useParams()
  const { id } = route.useSearch()
  const query = useQuery(graphqlQuery(RefusalsDocument, { filter: { requestId } }))
  const { data, error, refetch } = query
  const refusals = data?.refusals?.nodes
  return (
    <Page title={t('title')} lead={<CodeWithCopy text={requestId} />}>
      {error !== null && <ErrorNotice error={error} retry={refetch} />}
      {error === null && refusals === undefined && <Loading />}
      {refusals?.length === 0 && <Gone requestId={requestId} />}
      {refusals !== undefined && refusals.length > 0 && <Refusals refusals={refusals} id={id} />}
    </Page>
  )
}

interface RefusalsProps {
  /** Newest first. A client may send several requests with one id. */
  readonly refusals: readonly RefusalFieldsFragment[]
  /** Which of them; by default the newest. */
  readonly id: string | undefined
}

function Refusals({ refusals, id }: RefusalsProps) {
  const t = useTranslations('refusals.refusal')
  const shown = refusals.find((refusal) => refusal.id === id) ?? refusals[0]
  const others = refusals.filter((refusal) => refusal !== shown)
  if (shown === undefined) return null
  return (
    <>
      <Cards>
        <RefusalWhy refusal={shown} />
        <RefusalAbout refusal={shown} />
      </Cards>
      {others.length > 0 && (
        <Card title={t('others')} isFlush>
          <RefusalsTable refusals={others} />
        </Card>
      )}
    </>
  )
}

function Gone({ requestId }: { readonly requestId: string }) {
  const t = useTranslations('refusals')
  return (
    <Card>
      <Empty title={t('refusal.gone')}>
        <p>{t('refusal.goneHint')}</p>
        <CountedRefusals requestId={requestId} />
        <p>
          <Link to="/calls" search={{ requestId }}>
            {t('refusal.calls')}
          </Link>
        </p>
      </Empty>
    </Card>
  )
}

/** Which request was refused, and whose it was. */
function RefusalAbout({ refusal }: { readonly refusal: RefusalFieldsFragment }) {
  const t = useTranslations('refusals')
  const isAdmin = useSession().role === 'admin'
  const { moment } = useFormats()
  const agentName = useAgentName()
  const { at, route, agent, agentId, keyId } = refusal
  return (
    <Card
      title={t('refusal.about')}
      aside={
        keyId !== null && (
          <Link to="/refusals" search={{ key: keyId }}>
            {t('refusal.ofKey')}
          </Link>
        )
      }
    >
      <RowFacts
        of="refusals"
        row={refusal}
        facts={[
          [t('time'), moment(at)],
          'face',
          [t('refusal.route'), <code key="route">{route}</code>],
          [t('agent'), agentId && agentName(agentId, agent?.name)],
          keyId === null ? [t('key'), t('token')] : 'key',
          ...(isAdmin ? (['owner'] as const) : []),
        ]}
      />
    </Card>
  )
}

const KEPT_MS = 86_400_000

/** Why a request was refused, what to do about it, and how long this is known. */
function RefusalWhy({ refusal }: { readonly refusal: RefusalFieldsFragment }) {
  const t = useTranslations('refusals')
  const reasons = useTranslations('reasons')
  const { role } = useSession()
  const { moment } = useFormats()
  const limitName = useLimitName()
  const allowed = useAllowed()
  const { reason, status, limit, field, at } = refusal
  const known = reason as Parameters<typeof reasons>[0]
  return (
    <Card title={t('refusal.why')} aside={<StatusBadge status={status} />}>
      {reasons.has(known) && <p className={styles.explained}>{reasons(known)}</p>}
      <Facts
        facts={[
          [t('reason'), <code key="reason">{reason}</code>],
          [
            t('limit'),
            limit === '' ? null : <LimitWithName key="limit" limit={limit} name={limitName(limit)} />,
          ],
          [t('refusal.allowed'), allowed(refusal)],
          [t('refusal.changedAt'), changedAt(refusal, role === 'admin')],
          [t('field'), field === null ? null : <code key="field">{field}</code>],
          [t('refusal.what'), t(`advice.${adviceOf(refusal)}`, { field: field ?? '' })],
        ]}
      />
      <p className={styles.caption}>
        {t('refusal.kept', { time: moment(new Date(Date.parse(at) + KEPT_MS)) })}
      </p>
    </Card>
  )
}

/** With the word that logs and metrics have for it. */
function LimitWithName({ limit, name }: { readonly limit: string; readonly name: string }) {
  return (
    <>
      {name !== limit && `${name} `}
      <code>{limit}</code>
    </>
  )
}

/** Where the limit is raised: at the key, at the user, or by a setting. Null where it is nowhere. */
function changedAt(
  { limit, limitOf, keyId, key, ownerId, owner }: RefusalFieldsFragment,
  seesUsers: boolean,
): ReactNode {
  if (limitOf === 'key' && keyId !== null) return <RecordLink kind="key" id={keyId} name={key?.name} />
  if (limit === 'quota' && seesUsers) return <RecordLink kind="user" id={ownerId} name={owner?.username} />
  const setting = settingOf(limit)
  return setting === undefined ? null : <code>{setting}</code>
}
