import { ArrowDown, MessagesSquare } from 'lucide-react'
import { useTranslations } from 'use-intl'
import { IconButton } from '../../ui/button.tsx'
import { Empty } from '../../ui/notice.tsx'
import type { Agent } from '../agents/agent.ts'
import type { ChatSession } from './chats/chat-session.ts'
import { pausedTurn } from './chats/paused-turn.ts'
import type { Turn } from './chats/turn.ts'
import styles from './playground.module.css'
import { Suggestions } from './suggestions.tsx'
import { TurnView } from './turns/turn-view.tsx'
import { useFollowedEnd } from './use-followed-end.ts'

interface ConversationProps {
  /** Whether a key is made for the page; otherwise the user pastes one. */
  readonly mayMakeKeys: boolean
  readonly agent: Agent
  readonly session: ChatSession
  readonly turns: readonly Turn[]
  readonly isBusy: boolean
  onSuggestion(query: string): void
}

/** The turns so far, with the newest in sight unless the reader has scrolled away from it. */
export function Conversation({
  agent,
  session,
  turns,
  isBusy,
  mayMakeKeys,
  onSuggestion,
}: ConversationProps) {
  const t = useTranslations('playground')
  const { box, content, isAtEnd, onScroll, toEnd } = useFollowedEnd(turns, turns.at(-1)?.id ?? session)
  const paused = pausedTurn(turns)
  return (
    <div className={styles.frame}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a region only if it can have the focus. */}
      <div className={styles.log} ref={box} onScroll={onScroll} role="log" aria-label={t('log')} tabIndex={0}>
        {turns.length === 0 ? (
          <div className={styles.empty}>
            <Empty title={t('empty', { name: agent.name })} icon={<MessagesSquare aria-hidden />}>
              <p>{t(mayMakeKeys ? 'emptyHint' : 'emptyHintPasted')}</p>
              {agent.sandbox && <Suggestions agent={agent} isBusy={isBusy} onChoose={onSuggestion} />}
            </Empty>
          </div>
        ) : (
          <div className={styles.turns} ref={content}>
            {turns.map((turn) => (
              <TurnView
                key={turn.id}
                {...{ turn, session, isBusy, mayMakeKeys }}
                isLast={turn === turns.at(-1)}
                agentName={agent.name}
                mayAnswer={turn === paused}
              />
            ))}
          </div>
        )}
      </div>
      {!isAtEnd && (
        <IconButton className={styles.toEnd} label={t('toEnd')} look="plain" onClick={toEnd}>
          <ArrowDown aria-hidden />
        </IconButton>
      )}
    </div>
  )
}
