import { ArrowDown, MessagesSquare } from 'lucide-react'
import { useTranslations } from 'use-intl'
import { IconButton } from '../../ui/button.tsx'
import { Empty } from '../../ui/notice.tsx'
import type { Agent } from '../agents/agent.ts'
import type { ChatSession } from './chat-session.ts'
import styles from './playground.module.css'
import type { Turn } from './turn.ts'
import { TurnView } from './turn-view.tsx'
import { useFollowedEnd } from './use-followed-end.ts'

interface ConversationProps {
  /** Whether a key is made for the page; otherwise the user pastes one. */
  readonly mayMakeKeys: boolean
  readonly agent: Agent
  readonly app: string
  readonly session: ChatSession
  readonly turns: readonly Turn[]
}

/** The turns so far, with the newest in sight unless the reader has scrolled away from it. */
export function Conversation({ agent, app, session, turns, mayMakeKeys }: ConversationProps) {
  const t = useTranslations('playground')
  const { box, isAtEnd, onScroll, toEnd } = useFollowedEnd(turns, turns.at(-1)?.id)
  return (
    <div className={styles.frame}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a region only if it can have the focus. */}
      <div className={styles.log} ref={box} onScroll={onScroll} role="log" aria-label={t('log')} tabIndex={0}>
        {turns.length === 0 ? (
          <div className={styles.empty}>
            <Empty title={t('empty', { name: agent.name })} icon={<MessagesSquare aria-hidden />}>
              <p>{t(mayMakeKeys ? 'emptyHint' : 'emptyHintPasted')}</p>
            </Empty>
          </div>
        ) : (
          turns.map((turn, index) => (
            <TurnView
              key={turn.id}
              turn={turn}
              agent={agent.id}
              agentName={agent.name}
              app={app}
              conversationId={session.conversationId}
              isLast={index === turns.length - 1}
              mayMakeKeys={mayMakeKeys}
              onTryAgain={() => void session.tryAgain(turn)}
              onAskAgain={() => void session.askAgain(turn)}
            />
          ))
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
