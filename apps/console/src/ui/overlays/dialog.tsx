import { Dialog as Base } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import { type ReactNode, useRef } from 'react'
import { useTranslations } from 'use-intl'
import { IconButton } from '../button.tsx'
import { classNames } from '../class-names.ts'
import styles from './dialog.module.css'

interface DialogProps {
  readonly title: string
  readonly description?: ReactNode
  readonly isOpen: boolean
  /** Called for Escape, the close button and a press outside. */
  onClose(): void
  /** A dialog with something that would be lost, such as a key that is shown once, closes by its buttons alone. */
  readonly isModalOnly?: boolean
  readonly isWide?: boolean
  readonly children: ReactNode
}

/** A dialog over the page, which keeps the focus until it is closed and then gives it back. */
export function Dialog({ title, description, isOpen, onClose, isModalOnly, isWide, children }: DialogProps) {
  const t = useTranslations('common')
  const popup = useRef<HTMLDivElement>(null)
  return (
    <Base.Root
      open={isOpen}
      disablePointerDismissal={isModalOnly === true}
      onOpenChange={(open, { reason }) => {
        if (open || (isModalOnly === true && reason === 'escape-key')) return
        onClose()
      }}
    >
      <Base.Portal>
        <Base.Backdrop className={styles.backdrop} />
        <Base.Popup
          ref={popup}
          className={classNames(styles.popup, isWide === true && styles.wide)}
          // The first field of a form rather than the button that closes it.
          initialFocus={() => popup.current?.querySelector<HTMLElement>('form input, form textarea') ?? true}
        >
          <header className={styles.header}>
            <Base.Title>{title}</Base.Title>
            {isModalOnly !== true && (
              <Base.Close render={<IconButton label={t('close')}>{<X aria-hidden />}</IconButton>} />
            )}
          </header>
          {description !== undefined && (
            <Base.Description className={styles.description}>{description}</Base.Description>
          )}
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}

/** The row of buttons at the end of a dialog or form. */
export function Actions({ children }: { readonly children: ReactNode }) {
  return <div className={styles.actions}>{children}</div>
}
