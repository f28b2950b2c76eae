import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import { Card } from '../../ui/card.tsx'
import { CodeWithCopy } from '../../ui/copy/code-with-copy.tsx'
import { Facts } from '../../ui/facts.tsx'
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
  const { attempts, outcome, reason, replays, rating, ratingText, paused, answersId, answeredById } = call
  // Only administrators see what the platform said.
  const { platformStatus, platformCode, platformLogId } = call
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
      <Facts
        facts={[
          [t('call.reason'), reason === null ? null : <code key="reason">{reason}</code>],
          [t('call.platformStatus'), platformStatus],
          [t('call.platformCode'), platformCode === null ? null : <code key="code">{platformCode}</code>],
          [
            t('call.platformLogId'),
            platformLogId === null ? null : <CodeWithCopy key="log" text={platformLogId} />,
          ],
          [t('call.attempts'), attempts],
          [t('call.tokens'), tokens],
          [t('call.replays'), replays > 0 ? count(replays) : null],
          [t('call.rating'), rating && rated(rating)],
          [t('call.ratingText'), ratingText],
          [t('call.answers'), answersId && <CallLink key="answers" id={answersId} />],
          [t('call.answeredBy'), answeredById && <CallLink key="answeredBy" id={answeredById} />],
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

function CallLink({ id }: { readonly id: string }) {
  return (
    <Link to="/calls/$id" params={{ id }}>
      <code>{id}</code>
    </Link>
  )
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
