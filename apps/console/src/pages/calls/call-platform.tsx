import { useTranslations } from 'use-intl'
import { Card } from '../../ui/card.tsx'
import { CodeWithCopy } from '../../ui/copy/code-with-copy.tsx'
import { Facts } from '../../ui/facts.tsx'
import type { CallDetails } from './call-details.ts'

/** The platform's own words on an error, which only administrators see. */
export function CallPlatform({ call }: { readonly call: CallDetails }) {
  const t = useTranslations('calls.call')
  const { platformStatus, platformCode, platformLogId } = call
  const hasNone = platformStatus === null && platformCode === null && platformLogId === null
  return (
    <Card title={t('platform')}>
      {hasNone ? (
        <p>{t('platformNothing')}</p>
      ) : (
        <Facts
          facts={[
            [t('platformStatus'), platformStatus],
            [t('platformCode'), platformCode === null ? null : <code key="code">{platformCode}</code>],
            [
              t('platformLogId'),
              platformLogId === null ? null : <CodeWithCopy key="log" text={platformLogId} />,
            ],
          ]}
        />
      )}
    </Card>
  )
}
