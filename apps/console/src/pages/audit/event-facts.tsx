import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import { Card } from '../../ui/card.tsx'
import { CodeWithCopy } from '../../ui/copy/code-with-copy.tsx'
import { Facts } from '../../ui/facts.tsx'
import type { AuditDetails } from './audit-details.ts'
import { ResultBadge } from './result-badge.tsx'
import { Target } from './target.tsx'
import { useWords } from './words.ts'

interface EventProps {
  readonly event: AuditDetails
}

/** What was done, to what and with which result. */
export function EventDone({ event }: EventProps) {
  const t = useTranslations('audit')
  const { moment, count } = useFormats()
  const { at, operation, result, reason, target, hash } = event
  return (
    <Card title={t('event.done')} aside={<ResultBadge result={result} />}>
      <Facts
        facts={[
          [t('time'), moment(at)],
          [t('operation'), <code key="operation">{operation}</code>],
          [t('event.reason'), reason === null ? null : <code key="reason">{reason}</code>],
          [t('event.count'), event.count > 1 ? count(event.count) : null],
          [t('target'), target === null ? null : <Target key="target" event={event} />],
          [t('event.hash'), <CodeWithCopy key="hash" text={hash} />],
        ]}
      />
    </Card>
  )
}

/** Who did it, from where. */
export function EventOrigin({ event }: EventProps) {
  const t = useTranslations('audit')
  const words = useWords()
  const { actor, userId, user, keyId, key, tokenId, name, address, requestId } = event
  return (
    <Card title={t('who')}>
      <Facts
        facts={[
          [t('event.actor'), words.actor(actor)],
          [
            t('event.user'),
            userId === null ? null : (
              <Link key="user" to="/users/$id" params={{ id: userId }}>
                {user?.username ?? userId}
              </Link>
            ),
          ],
          [
            t('event.key'),
            keyId === null ? null : (
              <Link key="key" to="/keys/$id" params={{ id: keyId }}>
                {key?.name ?? keyId}
              </Link>
            ),
          ],
          [t('event.token'), tokenId === null ? null : <CodeWithCopy key="token" text={tokenId} />],
          [t('event.name'), name],
          [t('address'), address],
          [t('requestId'), requestId === null ? null : <CodeWithCopy key="request" text={requestId} />],
        ]}
      />
    </Card>
  )
}
