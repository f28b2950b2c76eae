import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import { RowFacts } from '../../lists/row-facts.tsx'
import { Card } from '../../ui/card.tsx'
import { type Advice, adviceOf } from '../refusals/advice.ts'
import type { CallDetails } from './call-details.ts'
import styles from './calls.module.css'
import { OutcomeBadge } from './outcome-badge.tsx'

/** How the call ended, in words, what to do about it, and what the platform said. */
export function CallResult({ call }: { readonly call: CallDetails }) {
  const t = useTranslations('calls')
  const reasonText = useReasonText()
  const { count } = useFormats()
  const tokens = useTokens(call)
  const advices = useTranslations('refusals.advice')
  const rated = useTranslations('conversations.rated')
  // Only administrators see what the platform said.
  const { outcome, reason, replays, rating, paused, answeredById, platformCode } = call
  const advice = adviceOn(call)
  return (
    <Card title={t('call.result')} aside={<OutcomeBadge outcome={outcome} />}>
      <div className={styles.explained}>
        <p>
          {(reason !== null && reasonText(reason)) || t(`explained.${outcome ?? 'RUNNING'}`)}
          {paused && <> {t(`explained.${answeredById === null ? 'WAITS' : 'ANSWERED'}`)}</>}
        </p>
        {advice !== undefined && <p>{advices(advice, { field: '' })}</p>}
      </div>
      <RowFacts
        of="calls"
        row={call}
        facts={[
          [t('call.reason'), reason && <code key="reason">{reason}</code>],
          'platformStatus',
          [t('call.platformCode'), platformCode && <code key="code">{platformCode}</code>],
          'platformLogId',
          'attempts',
          [t('call.tokens'), tokens],
          [t('call.replays'), replays > 0 ? count(replays) : null],
          [t('call.rating'), rating && rated(rating)],
          'ratingText',
          'answers',
          'answeredBy',
        ]}
      />
    </Card>
  )
}

/** What to do about a call that did not go well. */
function adviceOn({ outcome, reason }: CallDetails): Advice | undefined {
  if (outcome === 'CLIENT_GONE') return 'client'
  return reason === null ? undefined : adviceOf({ reason, status: 400, limit: '', field: null })
}

/** What a reason means in the reader's language, where there is a text for it. */
function useReasonText(): (reason: string) => string | undefined {
  const t = useTranslations('reasons')
  return (reason) => {
    const known = reason as Parameters<typeof t>[0]
    return t.has(known) ? t(known) : undefined
  }
}

function useTokens({
  outcome,
  kind,
  promptTokens,
  completionTokens,
  totalTokens,
}: CallDetails): string | null {
  const t = useTranslations('calls.call')
  const { count } = useFormats()
  if (kind === 'UPLOAD' || outcome === null) return null
  if (promptTokens === null || completionTokens === null || totalTokens === null) return t('tokensUnknown')
  return t('tokensOf', {
    total: count(totalTokens),
    prompt: count(promptTokens),
    completion: count(completionTokens),
  })
}
