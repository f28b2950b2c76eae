import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import {
  AuditEventsDocument,
  KeyDocument,
  type KeyFieldsFragment,
  KeysDocument,
} from '../../generated/graphql.ts'
import { client } from '../../session/gateway.ts'
import { invalidate } from '../../session/queries.ts'
import { Confirm } from '../../ui/overlays/confirm.tsx'
import { useToast } from '../../ui/overlays/toasts.tsx'

interface RevokeKeyProps {
  readonly apiKey: KeyFieldsFragment
  readonly isOpen: boolean
  onClose(): void
}

/** Asks before a key is revoked, and says what that stops. */
export function RevokeKey({ apiKey, isOpen, onClose }: RevokeKeyProps) {
  const t = useTranslations('keys.key')
  const list = useTranslations('keys')
  const formats = useFormats()
  const toast = useToast()
  const { callsToday, lastUsedAt } = apiKey.usage
  return (
    <Confirm
      title={t('revokeTitle', { name: apiKey.name })}
      action={t('revoke')}
      isOpen={isOpen}
      onClose={onClose}
      run={async () => {
        await client.apiKeys.revoke(apiKey.id)
        await invalidate(KeyDocument, AuditEventsDocument, KeysDocument)
        toast(t('revoked'))
      }}
    >
      <p>{t('revokeHint')}</p>
      <p>
        {t('revokeUse', {
          count: callsToday,
          at: lastUsedAt === null ? list('never') : formats.moment(lastUsedAt),
        })}
      </p>
    </Confirm>
  )
}
