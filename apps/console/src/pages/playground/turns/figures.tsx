import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../../format/use-formats.ts'
import type { Turn } from '../chats/turn.ts'
import styles from './turn.module.css'

/** What a reply took, and the way to its call. */
export function Figures({ turn }: { readonly turn: Turn }) {
  const t = useTranslations('playground')
  const formats = useFormats()
  const { usage, firstTextMs, totalMs, callId } = turn
  return (
    <dl className={styles.figures}>
      {usage !== undefined && (
        <div>
          <dt>{t('tokens')}</dt>
          <dd>
            {t('tokensInOut', {
              prompt: formats.count(usage.prompt_tokens),
              completion: formats.count(usage.completion_tokens),
            })}
          </dd>
        </div>
      )}
      {firstTextMs !== undefined && (
        <div>
          <dt>{t('firstText')}</dt>
          <dd>{formats.duration(firstTextMs)}</dd>
        </div>
      )}
      {totalMs !== undefined && (
        <div>
          <dt>{t('total')}</dt>
          <dd>{formats.duration(totalMs)}</dd>
        </div>
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
