import { useTranslations } from 'use-intl'
import { Notice } from '../ui/notice.tsx'

/** Says that UTC takes the place of the browser's time zone. */
export function ZoneReplaced({ zone }: { readonly zone: string }) {
  const t = useTranslations('charts')
  return <Notice tone="info">{t('zoneReplaced', { zone })}</Notice>
}
