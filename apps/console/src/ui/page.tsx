import { type ReactNode, useEffect, useRef } from 'react'
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
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · Trunkline`
  }, [title])
  useEffect(() => {
    if (heading.current !== null) followWithFocus(heading.current)
  }, [])
  return (
    <div className={styles.page}>
      <header className={styles.header}>
        <div className={styles.words}>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead !== undefined && <p>{lead}</p>}
        </div>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  )
}

/** The page that the focus has followed to; at first the one that was loaded, which the browser announces itself. */
let followedTo = location.pathname

/**
 * Moves the focus to the heading of a page that was just opened, so that the keyboard goes on there and screen readers announce
 * it. What has taken the focus on that page or in a dialog over it keeps it, and so does a search that has been opened since.
 */
function followWithFocus(heading: HTMLElement): void {
  const { activeElement, body } = document
  const isLost = activeElement === null || activeElement === body
  const isOther = followedTo !== location.pathname
  followedTo = location.pathname
  const isTaken = activeElement?.closest('main, [role=dialog], [role=search][data-open=true]') != null
  if (isOther ? isLost || !isTaken : isLost && wasFollowed) {
    wasFollowed = true
    heading.focus({ preventScroll: true })
  }
}

/** Whether a heading had the focus, which is lost when the page is drawn anew with what it has read. */
let wasFollowed = false

/** A row of controls above a chart or a table. */
export function Toolbar({ children, label }: { readonly children: ReactNode; readonly label: string }) {
  return (
    <fieldset className={styles.toolbar} aria-label={label}>
      {children}
    </fieldset>
  )
}
