import { Dialog } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import { type ReactNode, useEffect, useRef } from 'react'
import { useTranslations } from 'use-intl'
import { IconButton } from '../ui/button.tsx'
import styles from './shell.module.css'

export interface DrawerProps {
  readonly isOpen: boolean
  onClose(): void
  /** What stands beside the button that closes it. */
  readonly brand: ReactNode
  readonly children: ReactNode
}

/** The sidebar of narrow screens. It is loaded when it is opened for the first time. */
export function Drawer({ isOpen, onClose, brand, children }: DrawerProps) {
  const t = useTranslations('common')
  const isLeft = useRef(false)
  useEffect(() => {
    if (isOpen) isLeft.current = false
  }, [isOpen])
  return (
    <Dialog.Root
      open={isOpen}
      onOpenChange={(open) => {
        isLeft.current = !open
        if (!open) onClose()
      }}
    >
      <Dialog.Portal>
        <Dialog.Backdrop className={styles.backdrop} />
        <Dialog.Popup
          className={styles.drawer}
          aria-label={t('menu')}
          // Back to the button that opened it, unless another page was chosen.
          finalFocus={() => isLeft.current || (document.querySelector<HTMLElement>('main h1') ?? true)}
        >
          <div className={styles.drawerTop}>
            {brand}
            <Dialog.Close render={<IconButton label={t('close')}>{<X aria-hidden />}</IconButton>} />
          </div>
          {children}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
