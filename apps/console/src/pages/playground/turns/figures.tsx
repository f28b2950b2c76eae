import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../../format/use-formats.ts'
import type { Turn } from '../chats/turn.ts'
import styles from './turn.module.css'

/** What a reply took, and the way to its call. */
export function Figures({ turn: { usage, firstTextMs, totalMs, callId } }: { readonly turn: Turn }) {
  const t = useTranslations('playground')
  const { count, duration } = useFormats()
  const time = (ms: number | undefined) => (ms === undefined ? undefined : duration(ms))
  const tokens = usage && {
    prompt: count(usage.prompt_tokens),
    completion: count(usage.completion_tokens),
  }
  const figures = [
    [t('tokens'), tokens && t('tokensInOut', tokens)],
    [t('firstText'), time(firstTextMs)],
    [t('total'), time(totalMs)],
  ]
  return (
    <dl className={styles.figures}>
      {figures.map(
        ([name, value]) =>
          value !== undefined && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
      {callId !== undefined && (
        <div>
          <dt className="visually-hidden">{t('call')}</dt>
          <dd>
            <Link to="/calls/$id" params={{ id: callId }}>
              {t('toCall')}
            </Link>
          </dd>
        </div>
      )}
    </dl>
  )
}
