import { useState } from 'react'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import { client } from '../../session/gateway.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Confirm } from '../../ui/overlays/confirm.tsx'
import { useToast } from '../../ui/overlays/toasts.tsx'
import { Table, time } from '../../ui/table.tsx'
import type { KeyDetails } from './key-limits.tsx'
import styles from './keys.module.css'
import { rereadKey } from './reread-key.ts'
import { oldSecret } from './state/old-secret.ts'

interface KeySecretsProps {
  readonly apiKey: KeyDetails
  readonly mayEnd: boolean
}

/** Both secrets of a key in the overlap of a rotation, whether the old one is still needed, and a way to end it. Nothing for others. */
export function KeySecrets({ apiKey: { id, secrets }, mayEnd }: KeySecretsProps) {
  const t = useTranslations('keys.secrets')
  const list = useTranslations('keys')
  const formats = useFormats()
  const toast = useToast()
  const [isAsking, setAsking] = useState(false)
  const [present, previous] = secrets
  if (present === undefined || previous === undefined) return null
  const now = new Date()
  // The clock of this machine may be behind.
  const sinceMs = Math.min(0, new Date(previous.lastUsedAt ?? now).getTime() - now.getTime())
  const advice = t(`advice.${oldSecret(present, previous, now)}`, { ago: formats.relative(sinceMs) })
  return (
    <Card title={t('title')}>
      <div className={styles.secret}>
        <Table label={t('title')}>
          <thead>
            <tr>
              <th scope="col">{t('secret')}</th>
              <th scope="col">{list('key.prefix')}</th>
              <th scope="col">{list('lastUsed')}</th>
              <th scope="col">{t('ends')}</th>
            </tr>
          </thead>
          <tbody>
            {[present, previous].map(({ keyPrefix, lastUsedAt, endsAt }) => (
              <tr key={keyPrefix}>
                <th scope="row">
                  <Badge tone={endsAt === null ? 'ok' : 'warn'}>
                    {t(endsAt === null ? 'present' : 'previous')}
                  </Badge>
                </th>
                <td>
                  <code>{`${keyPrefix}…`}</code>
                </td>
                <td className={time}>{lastUsedAt === null ? list('never') : formats.moment(lastUsedAt)}</td>
                <td className={time}>{endsAt === null ? t('withKey') : formats.moment(endsAt)}</td>
              </tr>
            ))}
          </tbody>
        </Table>
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
          await client.apiKeys.endPreviousSecret(id)
          await rereadKey()
          toast(t('ended'))
        }}
      >
        <p>{advice}</p>
        <p>{t('endHint')}</p>
      </Confirm>
    </Card>
  )
}
