import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { Card } from '../../ui/card.tsx'
import { CodeWithCopy } from '../../ui/copy/code-with-copy.tsx'
import { Facts } from '../../ui/facts.tsx'
import type { CallDetails } from './call-details.ts'

/**
 * The process that served the call and the trace in which it did, by which its log lines and spans are found. Only
 * administrators see it.
 */
export function CallProcess({ call }: { readonly call: CallDetails }) {
  const t = useTranslations('calls.call')
  const { instance, instanceId, traceId, outcome } = call
  const untraced = outcome === null ? null : t('notTraced')
  return (
    <Card
      title={t('process')}
      aside={
        instanceId !== null && (
          <Link to="/processes" search={{ id: instanceId }}>
            {t('toProcess')}
          </Link>
        )
      }
    >
      <Facts
        facts={[
          [t('processId'), instanceId === null ? null : <CodeWithCopy key="id" text={instanceId} />],
          [t('processHost'), instance?.host],
          [t('processPid'), instance?.pid],
          [t('processVersion'), instance?.version],
          [t('traceId'), traceId === null ? untraced : <CodeWithCopy key="trace" text={traceId} />],
        ]}
      />
    </Card>
  )
}
