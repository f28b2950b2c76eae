import { Dialog as Base } from '@base-ui/react/dialog'
import { useTranslations } from 'use-intl'
import { Button } from '../button.tsx'
import styles from './dialog.module.css'

interface DiscardProps {
  readonly isOpen: boolean
  /** Goes on with what was typed. */
  onKeep(): void
  onDiscard(): void
}

/** Asks before what was typed into a dialog is lost. */
export function Discard({ isOpen, onKeep, onDiscard }: DiscardProps) {
  const t = useTranslations('common.discard')
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => !open && onKeep()}>
      <Base.Portal>
        <Base.Backdrop className={styles.backdrop} forceRender />
        <Base.Popup className={styles.popup}>
          <header className={styles.header}>
            <Base.Title>{t('title')}</Base.Title>
          </header>
          <Base.Description className={styles.description}>{t('lead')}</Base.Description>
          <div className={styles.actions}>
            <Button onClick={onKeep}>{t('keep')}</Button>
            <Button look="danger" onClick={onDiscard}>
              {t('discard')}
            </Button>
          </div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}
