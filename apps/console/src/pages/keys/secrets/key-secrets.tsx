import { useState } from 'react'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../../format/use-formats.ts'
import { client } from '../../../session/gateway.ts'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { Facts } from '../../../ui/facts.tsx'
import { Notice } from '../../../ui/notice.tsx'
import { Confirm } from '../../../ui/overlays/confirm.tsx'
import { useToast } from '../../../ui/overlays/toasts.tsx'
import type { KeyDetails } from '../key-limits.tsx'
import styles from '../keys.module.css'
import { rereadKey } from '../reread-key.ts'
import { oldSecret } from './old-secret.ts'

/** Both secrets of a key in the overlap of a rotation, whether the old one is still needed, and a way to end it. Nothing for other keys. */
export function KeySecrets({ apiKey, mayEnd }: { readonly apiKey: KeyDetails; readonly mayEnd: boolean }) {
  const t = useTranslations('keys.secrets')
  const never = useTranslations('keys')('never')
  const formats = useFormats()
  const toast = useToast()
  const [isAsking, setAsking] = useState(false)
  const [present, previous] = apiKey.secrets
  if (present === undefined || previous === undefined) return null
  const now = new Date()
  // The clock of this machine may be behind.
  const sinceMs = Math.min(0, new Date(previous.lastUsedAt ?? now).getTime() - now.getTime())
  const advice = t(`advice.${oldSecret(present, previous, now)}`, { ago: formats.relative(sinceMs) })
  const line = ({ keyPrefix, lastUsedAt, endsAt }: typeof present) =>
    t('line', {
      prefix: keyPrefix,
      used: lastUsedAt === null ? never : formats.moment(lastUsedAt),
      ends: endsAt === null ? t('withKey') : formats.moment(endsAt),
    })
  return (
    <Card title={t('title')}>
      <div className={styles.secret}>
        <Facts
          facts={[
            [t('present'), line(present)],
            [t('previous'), line(previous)],
          ]}
        />
        <Notice tone="info" action={mayEnd && <Button onClick={() => setAsking(true)}>{t('end')}</Button>}>
          {advice}
        </Notice>
      </div>
      <Confirm
        title={t('endTitle', { prefix: previous.keyPrefix })}
        action={t('end')}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        run={async () => {
          await client.apiKeys.endPreviousSecret(apiKey.id)
          void rereadKey()
          toast(t('ended'))
        }}
      >
        <p>{advice}</p>
        <p>{t('endHint')}</p>
      </Confirm>
    </Card>
  )
}
