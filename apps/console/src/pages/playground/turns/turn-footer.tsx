import { Braces, Code, RefreshCw } from 'lucide-react'
import { useState } from 'react'
import { useTranslations } from 'use-intl'
import { Button } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/copy/copy.tsx'
import { Dialog } from '../../../ui/overlays/dialog.tsx'
import type { ChatSession } from '../chats/chat-session.ts'
import type { Turn } from '../chats/turn.ts'
import { FramesDialog } from '../frames/frames-dialog.tsx'
import { Figures } from './figures.tsx'
import { SnippetChoice } from './snippet-choice.tsx'
import { Thumbs } from './thumbs.tsx'
import styles from './turn.module.css'

interface TurnFooterProps {
  readonly turn: Turn
  readonly session: ChatSession
  /** Whether another answer may be requested, which takes the place of this one. */
  readonly mayRegenerate: boolean
}

/** What a reply took, where to find its call, and what can be done with it. */
export function TurnFooter({ turn, session, mayRegenerate }: TurnFooterProps) {
  const t = useTranslations('playground')
  const [open, setOpen] = useState<'frames' | 'snippets'>()
  // A long chat would have hundreds of dialogs that are never opened.
  const [wasOpened, setOpened] = useState(false)
  const close = () => setOpen(undefined)
  const show = (dialog: 'frames' | 'snippets') => {
    setOpened(true)
    setOpen(dialog)
  }
  return (
    <footer className={styles.footer}>
      <Figures turn={turn} />
      <div className={styles.tools}>
        {turn.text !== '' && <CopyButton text={turn.text} label={t('copyAnswer')} look="quiet" />}
        {mayRegenerate && turn.text !== '' && (
          <Button look="quiet" title={t('regenerateHint')} onClick={() => void session.regenerate()}>
            <RefreshCw aria-hidden />
            {t('regenerate')}
          </Button>
        )}
        <Button
          look="quiet"
          onClick={() => show('frames')}
          disabled={turn.frames === '' && turn.exchanges.length === 0}
        >
          <Braces aria-hidden />
          {t('frames')}
        </Button>
        <Button look="quiet" onClick={() => show('snippets')}>
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
      {wasOpened && (
        <>
          <FramesDialog turn={turn} isOpen={open === 'frames'} onClose={close} />
          <Dialog
            title={t('copyAs')}
            description={t('copyAsHint')}
            isOpen={open === 'snippets'}
            onClose={close}
            isWide
          >
            <SnippetChoice turn={turn} agent={session.agent} app={session.app} />
          </Dialog>
        </>
      )}
    </footer>
  )
}
