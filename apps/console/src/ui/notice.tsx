import {
  ConnectionError,
  IdleTimeoutError,
  InvalidResponseError,
  StreamFailedError,
  TimeoutError,
  TruncatedStreamError,
  TrunklineError,
} from '@trunkline/sdk'
import { CircleAlert, CloudOff, Inbox, Info } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl'
import { Button } from './button.tsx'
import { classNames } from './class-names.ts'
import { PartNotLoadedError } from './load-part.ts'
import styles from './notice.module.css'

interface NoticeProps {
  readonly tone: 'info' | 'danger' | 'warn'
  readonly title?: ReactNode
  readonly icon?: ReactNode
  readonly children?: ReactNode
  readonly action?: ReactNode
}

export function Notice({ tone, title, icon, children, action }: NoticeProps) {
  return (
    <div className={classNames(styles.notice, styles[tone])} role={tone === 'danger' ? 'alert' : 'status'}>
      {icon ?? (tone === 'info' ? <Info aria-hidden /> : <CircleAlert aria-hidden />)}
      <div className={styles.words}>
        {title !== undefined && <strong>{title}</strong>}
        {children}
      </div>
      {action}
    </div>
  )
}

interface ErrorNoticeProps {
  readonly error: unknown
  retry?(): void
}

/** Why something failed: the reason in words, the detail of the gateway, and the id under which its operator finds it. */
export function ErrorNotice({ error, retry }: ErrorNoticeProps) {
  const t = useTranslations('common')
  const describe = useErrorText()
  const isOffline = isGatewayAway(error) || error instanceof PartNotLoadedError
  const known = error instanceof TrunklineError ? error : undefined
  const title = describe(error)
  const hasDetail =
    known?.detail !== undefined &&
    known.status !== 500 &&
    // A reply that fails midway has only the English text of its reason there, which the title says already.
    !(known instanceof StreamFailedError) &&
    ![title, known.message].includes(known.detail)
  return (
    <Notice
      tone="danger"
      title={title}
      {...(isOffline && { icon: <CloudOff aria-hidden /> })}
      {...(retry !== undefined && { action: <Button onClick={retry}>{t('tryAgain')}</Button> })}
    >
      {/* What can be read again is, by the page itself. */}
      {isOffline && retry !== undefined && <p>{t('comesBack')}</p>}
      {hasDetail && <p>{known.detail}</p>}
      {(known?.reason !== undefined || known?.requestId !== undefined) && (
        <p className={styles.ids}>
          {known.reason !== undefined && <code>{known.reason}</code>}
          {known.requestId !== undefined && (
            <span>
              {t('requestId')} <code>{known.requestId}</code>
            </span>
          )}
        </p>
      )}
    </Notice>
  )
}

/** Whether the gateway did not answer, or answered that it cannot at the moment, such as while it restarts. Agents may be away without it. */
export function isGatewayAway(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof TimeoutError) return true
  if (!(error instanceof TrunklineError) || error.reason?.startsWith('agent_')) return false
  return [502, 503, 504].includes(error.status ?? 0)
}

/** The text of a failure in the reader's language; the gateway's English text for a reason without one. */
export function useErrorText(): (error: unknown) => string {
  const t = useTranslations('reasons')
  const common = useTranslations('common')
  return (error) => {
    if (error instanceof PartNotLoadedError) return common(navigator.onLine ? 'partNotLoaded' : 'offline')
    if (!(error instanceof TrunklineError)) return String(error)
    if (error instanceof ConnectionError) return common(navigator.onLine ? 'gatewayAway' : 'offline')
    if (error instanceof TimeoutError) return common('gatewayAway')
    if (error instanceof TruncatedStreamError || error instanceof IdleTimeoutError) return common('brokenOff')
    if (error instanceof InvalidResponseError) return common('notTheGateway')
    const reason = error.reason as Parameters<typeof t>[0] | undefined
    return reason !== undefined && t.has(reason) ? t(reason) : error.message
  }
}

interface EmptyProps {
  readonly title: string
  readonly icon?: ReactNode
  readonly children?: ReactNode
}

/** What a list shows while it has nothing: why, and what would change that. */
export function Empty({ title, icon, children }: EmptyProps) {
  return (
    <div className={styles.empty}>
      {icon ?? <Inbox aria-hidden />}
      <strong>{title}</strong>
      {children}
    </div>
  )
}

/** The lines, rows or cards of each shape. */
const PARTS = { lines: 6, facts: 2, list: 12, chart: 1 }

/** Stands in for what is being read, and looks like it: by default the facts of one thing. */
export function Loading({ shape = 'facts' }: { readonly shape?: keyof typeof PARTS }) {
  const t = useTranslations('common')
  return (
    <div className={classNames(styles.loading, styles[shape])} role="status">
      <span className="visually-hidden">{t('loading')}</span>
      {Array.from({ length: PARTS[shape] }, (_, part) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts are alike and never move.
        <div key={part} />
      ))}
    </div>
  )
}
