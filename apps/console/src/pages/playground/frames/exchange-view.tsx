import { useTranslations } from 'use-intl'
import type { Exchange } from './exchange.ts'
import styles from './frames.module.css'

/** One request of a reply with its headers, and those of the response. */
export function ExchangeView({ exchange }: { readonly exchange: Exchange }) {
  const t = useTranslations('playground.frame')
  const { method, path, status, requestHeaders, responseHeaders } = exchange
  return (
    <section className={styles.exchange}>
      <h3>
        <code>
          {method} {path}
        </code>{' '}
        <span className={styles.status}>{status ?? t('noResponse')}</span>
      </h3>
      <Headers title={t('request')} headers={requestHeaders} />
      <Headers title={t('response')} headers={responseHeaders} />
    </section>
  )
}

function Headers({
  title,
  headers,
}: {
  readonly title: string
  readonly headers: Exchange['requestHeaders']
}) {
  if (headers.length === 0) return null
  return (
    <>
      <h4>{title}</h4>
      <dl className={styles.headers}>
        {headers.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}
