import { useTranslations } from 'use-intl'

/** Why calls are not served: in words where there are some, and as the word that the API uses. */
export function Reason({ reason }: { readonly reason: string }) {
  const t = useTranslations('reasons')
  const known = reason as Parameters<typeof t>[0]
  return (
    <span>
      {t.has(known) && <>{t(known)} </>}
      <code>{reason}</code>
    </span>
  )
}
