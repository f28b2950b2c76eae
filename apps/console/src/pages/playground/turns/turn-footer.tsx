import { Code, RefreshCw } from 'lucide-react'
import { useState } from 'react'
import { useTranslations } from 'use-intl'
import { Button } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/copy/copy.tsx'
import { Dialog } from '../../../ui/overlays/dialog.tsx'
import type { ChatSession } from '../chats/chat-session.ts'
import type { Turn } from '../chats/turn.ts'
import { Figures } from './figures.tsx'
import { SnippetChoice } from './snippet-choice.tsx'
import { Thumbs } from './thumbs.tsx'
import styles from './turn.module.css'

interface TurnFooterProps {
  readonly turn: Turn
  readonly session: ChatSession
  /** Whether the question may be asked once more. */
  readonly mayRegenerate: boolean
}

/** What a reply took, where to find its call, and what can be done with it. */
export function TurnFooter({ turn, session, mayRegenerate }: TurnFooterProps) {
  const t = useTranslations('playground')
  const [isOpen, setOpen] = useState(false)
  return (
    <footer className={styles.footer}>
      <Figures turn={turn} />
      <div className={styles.tools}>
        {turn.text !== '' && <CopyButton text={turn.text} label={t('copyAnswer')} look="quiet" />}
        {mayRegenerate && turn.text !== '' && (
          <Button
            look="quiet"
            title={t('regenerateHint')}
            onClick={() => void session.send(turn.query, turn.files)}
          >
            <RefreshCw aria-hidden />
            {t('regenerate')}
          </Button>
        )}
        <Button look="quiet" onClick={() => setOpen(true)}>
          <Code aria-hidden />
          {t('copyAs')}
        </Button>
        {turn.text !== '' && turn.callId !== undefined && (
          <Thumbs {...{ turn, session }} callId={turn.callId} />
        )}
        {turn.requestId !== undefined && (
          <span className={styles.request}>
            {t('requestId')} <code>{turn.requestId}</code>
            <CopyButton text={turn.requestId} />
          </span>
        )}
      </div>
      {/* A long chat would have hundreds of dialogs that are never opened. */}
      {isOpen && (
        <Dialog
          title={t('copyAs')}
          description={t('copyAsHint')}
          isOpen
          onClose={() => setOpen(false)}
          isWide
        >
          <SnippetChoice turn={turn} place={session.place} />
        </Dialog>
      )}
    </footer>
  )
}
