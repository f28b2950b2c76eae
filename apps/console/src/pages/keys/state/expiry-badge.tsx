import { useTranslations } from 'use-intl'
import type { KeyFieldsFragment } from '../../../generated/graphql.ts'
import { Badge } from '../../../ui/badge.tsx'
import { daysLeft, daysOf } from './key-expiry.ts'

/** Marks a key that expires soon, the more the sooner. Nothing for others. */
export function ExpiryBadge({
  apiKey,
}: {
  readonly apiKey: Pick<KeyFieldsFragment, 'isActive' | 'expiresAt'>
}) {
  const t = useTranslations('keys')
  const days = daysLeft(apiKey, new Date())
  if (days === undefined) return null
  const tone = days < daysOf('1d') ? 'danger' : days < daysOf('7d') ? 'warn' : 'neutral'
  return <Badge tone={tone}>{days === 0 ? t('expiresToday') : t('expiresIn', { days })}</Badge>
}
