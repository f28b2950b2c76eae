import { useTranslations } from 'use-intl'
import type { ConversationFieldsFragment } from '../../generated/graphql.ts'
import { second } from '../../lists/list-table.tsx'
import { OutcomeBadge } from '../calls/outcome-badge.tsx'

/** How the last call of a conversation ended, and whether its run waits for the user. */
export function ConversationState(props: { readonly conversation: ConversationFieldsFragment }) {
  const t = useTranslations('conversations')
  const { lastOutcome, turns, paused } = props.conversation
  // The ledger has no call of it any more.
  if (lastOutcome === null && turns === 0) return '–'
  return (
    <>
      <OutcomeBadge outcome={lastOutcome} />
      {paused && <span className={second}>{t('paused')}</span>}
    </>
  )
}
