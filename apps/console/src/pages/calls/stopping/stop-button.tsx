import { useTranslations } from 'use-intl'
import { Button } from '../../../ui/button.tsx'

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
