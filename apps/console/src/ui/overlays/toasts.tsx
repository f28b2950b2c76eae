import { Toast } from '@base-ui/react/toast'
import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl'
import { IconButton } from '../button.tsx'
import styles from './toasts.module.css'

/** Short messages at the edge of the page on what has just been done. Failures are shown where they happened instead. */
export function Toasts({ children }: { readonly children: ReactNode }) {
  const t = useTranslations('common')
  return (
    <Toast.Provider timeout={5_000}>
      {children}
      <Toast.Portal>
        <Toast.Viewport className={styles.viewport} aria-label={t('notifications')}>
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  )
}

export function useToast(): (text: string) => void {
  const { add } = Toast.useToastManager()
  return (text) => {
    add({ title: text })
  }
}

function ToastList() {
  const t = useTranslations('common')
  const { toasts } = Toast.useToastManager()
  return toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className={styles.toast}>
      <Toast.Title render={<p />}>{toast.title}</Toast.Title>
      <Toast.Close render={<IconButton label={t('close')}>{<X aria-hidden />}</IconButton>} />
    </Toast.Root>
  ))
}
