import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import type { KeyQuery } from '../../generated/graphql.ts'
import { useAllowed } from '../refusals/limit-name.ts'
import { QuotaUse } from '../users/quota-use.tsx'
import styles from './keys.module.css'

/** A key with what its page alone shows. */
export type KeyDetails = NonNullable<KeyQuery['apiKey']>

export interface KeyDialogProps {
  readonly apiKey: KeyDetails
  onClose(): void
}

/** Facts: what the key may still do, and whose limit decides: its own, the gateway's, or the quota of its owner. */
export function useLimits({ limits, rateLimits, permissions, owner }: KeyDetails) {
  const t = useTranslations('keys.limits')
  const { moment } = useFormats()
  const may = (permission: 'CHAT' | 'UPLOAD') =>
    permissions.includes(permission) || permissions.includes('ADMIN')
  return [
    [t('chats'), may('CHAT') && <Rate own={limits.chatPerMinute} held={rateLimits.chatPerMinute} />],
    [t('uploads'), may('UPLOAD') && <Rate own={limits.uploadPerMinute} held={rateLimits.uploadPerMinute} />],
    [
      t('quota'),
      owner === null ? (
        t('quotaHidden')
      ) : (
        <div key="quota" className={styles.quota}>
          <QuotaUse user={owner.quota} />
          <p className={styles.hint}>
            {t('quotaOf', { owner: owner.username })}
            {owner.quota.resetsAt !== null && ` ${t('resets', { at: moment(owner.quota.resetsAt) })}`}
          </p>
        </div>
      ),
    ],
  ] as const
}

interface RateProps {
  /** The limit that the key has been given, which the configuration may have fallen below since. */
  readonly own: number | null
  readonly held: number
}

function Rate({ own, held }: RateProps) {
  const t = useTranslations('keys.limits')
  const allowed = useAllowed()
  const limitOf = own === held ? 'key' : 'gateway'
  return (
    <>
      {allowed({ limitPoints: held, limitWindowSeconds: 60, limitOf })}
      {own !== null && own > held && <p className={styles.hint}>{t('capped', { own })}</p>}
    </>
  )
}
