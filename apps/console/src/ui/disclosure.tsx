import { ChevronRight } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import styles from './disclosure.module.css'

/** Something that is shown on demand. It does not exist before it is opened for the first time. */
export function Disclosure({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  const [wasOpened, setOpened] = useState(false)
  return (
    <details
      className={styles.disclosure}
      onToggle={({ currentTarget }) => {
        if (currentTarget.open) setOpened(true)
      }}
    >
      <summary>
        <ChevronRight aria-hidden />
        {label}
      </summary>
      {wasOpened && children}
    </details>
  )
}
