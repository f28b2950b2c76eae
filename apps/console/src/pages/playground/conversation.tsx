import { ArrowDown, MessagesSquare } from 'lucide-react'
import { useState } from 'react'
import { flushSync } from 'react-dom'
import { useTranslations } from 'use-intl'
import { Button, IconButton } from '../../ui/button.tsx'
import { Empty } from '../../ui/notice.tsx'
import type { Agent } from '../agents/agent.ts'
import type { ChatSession } from './chats/chat-session.ts'
import { pausedTurn } from './chats/paused-turn.ts'
import type { Turn } from './chats/turn.ts'
import styles from './playground.module.css'
import { Suggestions } from './suggestions.tsx'
import { TurnView } from './turns/turn-view.tsx'
import { useFollowedEnd } from './use-followed-end.ts'

/** A chat that is opened shows so many of its last messages; those before are drawn on demand. */
const SHOWN_AT_ONCE = 60

interface ConversationProps {
  /** Whether a key is made for the page; otherwise the user pastes one. */
  readonly mayMakeKeys: boolean
  readonly agent: Agent
  readonly session: ChatSession
  readonly turns: readonly Turn[]
  readonly isElsewhere: boolean
  readonly isBusy: boolean
  onEdit(turn: Turn, query: string): void
  onSuggestion(query: string): void
}

/** The turns so far, with the newest in sight unless the reader has scrolled away from it. */
export function Conversation(props: ConversationProps) {
  const { agent, session, turns, isElsewhere, isBusy, mayMakeKeys, onEdit, onSuggestion } = props
  const t = useTranslations('playground')
  const { box, content, isAtEnd, onScroll, toEnd } = useFollowedEnd(turns, turns.at(-1)?.id ?? session)
  const paused = pausedTurn(turns)
  const [shown, setShown] = useState({ session, count: SHOWN_AT_ONCE })
  const count = shown.session === session ? shown.count : SHOWN_AT_ONCE
  function showEarlier() {
    const element = box.current
    if (element === null) return
    const fromEnd = element.scrollHeight - element.scrollTop
    flushSync(() => setShown({ session, count: count + SHOWN_AT_ONCE }))
    // What was in sight stays where it was.
    element.scrollTop = element.scrollHeight - fromEnd
  }
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
            {turns.length > count && (
              <Button className={styles.earlier} look="quiet" onClick={showEarlier}>
                {t('showEarlier', { count: turns.length - count })}
              </Button>
            )}
            {turns.slice(-count).map((turn) => {
              const isLast = turn === turns.at(-1)
              return (
                <TurnView
                  key={turn.id}
                  {...{ turn, session, isLast, isBusy, mayMakeKeys, onEdit }}
                  agentName={agent.name}
                  isElsewhere={isLast && isElsewhere}
                  mayAnswer={turn === paused}
                />
              )
            })}
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
