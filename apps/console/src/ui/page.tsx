import { type ReactNode, useEffect } from 'react'
import styles from './page.module.css'

interface PageProps {
  readonly title: string
  /** One line under the title. */
  readonly lead?: ReactNode
  /** The buttons of the page. */
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** The frame of every page: its title, also that of the window, and what can be done on it. */
export function Page({ title, lead, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Trunkline`
  }, [title])
  return (
    <div className={styles.page}>
      <header className={styles.header}>
        <div className={styles.words}>
          <h1>{title}</h1>
          {lead !== undefined && <p>{lead}</p>}
        </div>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  )
}

/** A row of controls above a chart or a table. */
export function Toolbar({ children, label }: { readonly children: ReactNode; readonly label: string }) {
  return (
    <fieldset className={styles.toolbar} aria-label={label}>
      {children}
    </fieldset>
  )
}
