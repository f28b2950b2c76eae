import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import { AUDIT_FIELDS } from '../../generated/fields.ts'
import { RowFacts } from '../../lists/row-facts.tsx'
import { Card } from '../../ui/card.tsx'
import { CodeWithCopy } from '../../ui/copy/code-with-copy.tsx'
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
      <RowFacts
        of="audit"
        fields={AUDIT_FIELDS}
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
export function EventOrigin({ event }: EventProps) {
  const t = useTranslations('audit')
  const words = useWords()
  return (
    <Card title={t('who')}>
      <RowFacts
        of="audit"
        fields={AUDIT_FIELDS}
        row={event}
        facts={[
          [t('event.actor'), words.actor(event.actor)],
          ...(['user', 'key', 'tokenId', 'name', 'address', 'requestId'] as const),
        ]}
      />
    </Card>
  )
}
