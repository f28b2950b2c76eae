import { useTranslations } from 'use-intl'
import { Card } from '../../ui/card.tsx'
import { Facts } from '../../ui/facts.tsx'
import type { CallDetails } from './call-details.ts'
import { CodeWithCopy } from './code-with-copy.tsx'

/** The process that served the call, by which its log lines are found. Only administrators see it. */
export function CallProcess({ call: { instance, instanceId } }: { readonly call: CallDetails }) {
  const t = useTranslations('calls.call')
  return (
    <Card title={t('process')}>
      <Facts
        facts={[
          [t('processId'), instanceId === null ? null : <CodeWithCopy key="id" text={instanceId} />],
          [t('processHost'), instance?.host],
          [t('processPid'), instance?.pid],
          [t('processVersion'), instance?.version],
        ]}
      />
    </Card>
  )
}
