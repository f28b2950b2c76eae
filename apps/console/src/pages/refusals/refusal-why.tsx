import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import type { RefusalFieldsFragment } from '../../generated/graphql.ts'
import { RecordLink } from '../../lists/record-link.tsx'
import { useSession } from '../../session/use-session.ts'
import { Card } from '../../ui/card.tsx'
import { Facts } from '../../ui/facts.tsx'
import { adviceOf } from './advice.ts'
import { settingOf, useAllowed, useLimitName } from './limit-name.ts'
import styles from './refusals.module.css'
import { StatusBadge } from './status-badge.tsx'

const KEPT_MS = 86_400_000

/** Why a request was refused, what to do about it, and how long this is known. */
export function RefusalWhy({ refusal }: { readonly refusal: RefusalFieldsFragment }) {
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
