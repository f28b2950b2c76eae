import { useTranslations } from 'use-intl'
import { client } from '../../session/gateway.ts'
import { Confirm } from '../../ui/overlays/confirm.tsx'
import { useToast } from '../../ui/overlays/toasts.tsx'
import type { KeyDialogProps } from './key-limits.tsx'
import { rereadKey } from './reread-key.ts'

/** Asks before a key is paused, and says what that stops; or lifts a pause, which an administrator may have kept to themselves. */
export function PauseKey({ apiKey, onClose }: KeyDialogProps) {
  const t = useTranslations('keys.pause')
  const toast = useToast()
  const isPaused = apiKey.pausedAt !== null
  const { name } = apiKey
  return (
    <Confirm
      title={t(isPaused ? 'resumeTitle' : 'title', { name })}
      action={t(isPaused ? 'resume' : 'pause')}
      look={isPaused ? 'primary' : 'danger'}
      isOpen
      onClose={onClose}
      run={async () => {
        await client.apiKeys.update(apiKey.id, { is_active: isPaused })
        void rereadKey()
        toast(t(isPaused ? 'resumed' : 'paused'))
      }}
    >
      <p>{t(isPaused ? 'resumeHint' : 'hint')}</p>
    </Confirm>
  )
}
