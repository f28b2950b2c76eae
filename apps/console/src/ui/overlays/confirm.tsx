import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl'
import { Button } from '../button.tsx'
import { ErrorNotice } from '../notice.tsx'
import styles from './dialog.module.css'
import { Actions, Dialog } from './dialog.tsx'

interface ConfirmProps {
  /** The question. */
  readonly title: string
  /** What will happen, and what will stop working. */
  readonly children: ReactNode
  /** The verb on the button. */
  readonly action: string
  readonly look?: 'primary' | 'danger'
  readonly isOpen: boolean
  onClose(): void
  /** The dialog stays open, with the reason, if it fails. */
  run(): Promise<unknown>
}

/** Asks before something that cannot be undone. */
export function Confirm({ title, children, action, look = 'danger', isOpen, onClose, run }: ConfirmProps) {
  const t = useTranslations('common')
  const task = useMutation({ mutationFn: run, onSuccess: close })
  function close() {
    task.reset()
    onClose()
  }
  return (
    <Dialog title={title} isOpen={isOpen} onClose={close}>
      <div className={styles.words}>{children}</div>
      {task.isError && <ErrorNotice error={task.error} />}
      <Actions>
        <Button onClick={close}>{t('cancel')}</Button>
        <Button look={look} isBusy={task.isPending} onClick={() => task.mutate()}>
          {action}
        </Button>
      </Actions>
    </Dialog>
  )
}
