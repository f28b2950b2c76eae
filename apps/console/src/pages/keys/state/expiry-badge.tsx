import { useTranslations } from 'use-intl'
import type { KeyFieldsFragment } from '../../../generated/graphql.ts'
import { Badge } from '../../../ui/badge.tsx'
import { daysLeft } from './key-expiry.ts'

/** Marks a key that expires soon. Nothing for others. */
export function ExpiryBadge({
  apiKey,
}: {
  readonly apiKey: Pick<KeyFieldsFragment, 'isActive' | 'expiresAt'>
}) {
  const t = useTranslations('keys')
  const days = daysLeft(apiKey, new Date())
  if (days === undefined) return null
  return <Badge tone="warn">{days === 0 ? t('expiresToday') : t('expiresIn', { days })}</Badge>
}
