import { useTranslations } from 'use-intl'
import type { CallFieldsFragment } from '../../../generated/graphql.ts'
import { Button } from '../../../ui/button.tsx'
import { Confirm } from '../../../ui/overlays/confirm.tsx'
import { useToast } from '../../../ui/overlays/toasts.tsx'
import { Elapsed } from './elapsed.tsx'
import { stopCall } from './stop-call.ts'

interface StopDialogProps {
  readonly call: CallFieldsFragment
  onClose(): void
}

/** Asks before a call is stopped, and says afterwards whether it was, or was over before. */
export function StopDialog({ call: { id, kind, agent, agentId, admittedAt }, onClose }: StopDialogProps) {
  const t = useTranslations('calls.stop')
  const kinds = useTranslations('calls.call.kinds')
  const toast = useToast()
  return (
    <Confirm
      title={t('title')}
      action={t('stop')}
      isOpen
      onClose={onClose}
      run={async () => toast(t(`results.${await stopCall(id)}`))}
    >
      <p>{t('hint')}</p>
      <p>
        {t('what', { agent: agent?.name ?? (agentId || kinds(kind)) })} <Elapsed since={admittedAt} />
      </p>
    </Confirm>
  )
}

interface StopButtonProps {
  /** `quiet` in the rows of a list. */
  readonly look: 'danger' | 'quiet'
  /** Asks first. */
  onStop(): void
}

/** Stops a call that runs. Its question stands beside the list, since a row takes the clicks of all that is inside it. */
export function StopButton({ look, onStop }: StopButtonProps) {
  const t = useTranslations('calls.stop')
  return (
    <Button look={look} onClick={onStop}>
      {t('stop')}
    </Button>
  )
}
