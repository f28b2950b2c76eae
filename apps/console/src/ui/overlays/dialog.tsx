import { Dialog as Base } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import { type ReactNode, useCallback, useRef, useState } from 'react'
import { useTranslations } from 'use-intl'
import { IconButton } from '../button.tsx'
import { classNames } from '../class-names.ts'
import styles from './dialog.module.css'
import { Discard } from './discard.tsx'
import { Typed } from './typed.ts'
import { useIsTop } from './use-is-top.ts'

interface DialogProps {
  readonly title: string
  readonly description?: ReactNode
  readonly isOpen: boolean
  /** Called for Escape, the close button and a press outside; where something was typed, only after a question. */
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
  const [typed] = useState(() => new Typed())
  const [isAsking, setAsking] = useState(false)
  const isTop = useIsTop(isOpen)
  const setPopup = useCallback(
    (element: HTMLDivElement | null) => {
      popup.current = element
      if (element === null) typed.forget()
      else typed.note(element)
    },
    [typed],
  )
  return (
    <Base.Root
      open={isOpen}
      disablePointerDismissal={isModalOnly === true}
      onOpenChange={(open, { reason }) => {
        if (open || (isModalOnly === true && reason === 'escape-key')) return
        if (!isTop) return
        if (typed.hasChanged()) setAsking(true)
        else onClose()
      }}
    >
      <Base.Portal>
        <Base.Backdrop className={styles.backdrop} />
        <Base.Popup
          ref={setPopup}
          // Fields may come later; each is noted before something can be typed into it.
          onFocusCapture={() => popup.current !== null && typed.note(popup.current)}
          className={classNames(styles.popup, isWide === true && styles.wide)}
          // The first field of a form rather than the button that closes it.
          initialFocus={() =>
            popup.current?.querySelector<HTMLElement>('form input:not([type=hidden]), form textarea') ?? true
          }
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
          <Discard
            isOpen={isAsking}
            onKeep={() => setAsking(false)}
            onDiscard={() => {
              setAsking(false)
              onClose()
            }}
          />
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}

/** The row of buttons at the end of a dialog or form. */
export function Actions({ children }: { readonly children: ReactNode }) {
  return <div className={styles.actions}>{children}</div>
}
