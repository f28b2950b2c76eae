import { Link } from '@tanstack/react-router'
import { Braces, Code } from 'lucide-react'
import { useState } from 'react'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import { chatSnippets } from '../../snippets.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton, Snippet } from '../../ui/copy/copy.tsx'
import { Choices } from '../../ui/fields/choices.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import styles from './turn.module.css'
import type { Turn } from './turn.ts'

interface TurnFooterProps {
  readonly turn: Turn
  readonly agent: string
  readonly app: string
  readonly conversationId: string
}

/** What a reply took, where to find its call, and ways to do the same elsewhere. */
export function TurnFooter({ turn, ...chat }: TurnFooterProps) {
  const t = useTranslations('playground')
  const [open, setOpen] = useState<'frames' | 'snippets'>()
  const close = () => setOpen(undefined)
  return (
    <footer className={styles.footer}>
      <Figures turn={turn} />
      <div className={styles.tools}>
        {turn.requestId !== undefined && (
          <span className={styles.request}>
            {t('requestId')} <code>{turn.requestId}</code>
            <CopyButton text={turn.requestId} />
          </span>
        )}
        <Button look="quiet" onClick={() => setOpen('frames')} disabled={turn.frames === ''}>
          <Braces aria-hidden />
          {t('frames')}
        </Button>
        <Button look="quiet" onClick={() => setOpen('snippets')}>
          <Code aria-hidden />
          {t('copyAs')}
        </Button>
      </div>
      <Dialog
        title={t('frames')}
        description={t('framesHint')}
        isOpen={open === 'frames'}
        onClose={close}
        isWide
      >
        <Snippet label={t('frames')} code={turn.frames} />
      </Dialog>
      <Dialog
        title={t('copyAs')}
        description={t('copyAsHint')}
        isOpen={open === 'snippets'}
        onClose={close}
        isWide
      >
        <SnippetChoice turn={turn} {...chat} />
      </Dialog>
    </footer>
  )
}

function Figures({ turn }: { readonly turn: Turn }) {
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

const LANGUAGES = ['curl', 'sdk', 'openai'] as const
/** Stands for the key, which belongs to the playground alone. */
const PLACEHOLDER = 'tl_your_api_key'

function SnippetChoice({ turn, agent, app, conversationId }: TurnFooterProps) {
  const t = useTranslations('playground')
  const [language, setLanguage] = useState<(typeof LANGUAGES)[number]>('curl')
  const snippets = chatSnippets({
    baseURL: location.origin,
    agent,
    app,
    conversationId,
    query: turn.query,
    files: turn.files.map(({ url }) => url),
    detail: true,
    apiKey: PLACEHOLDER,
  })
  return (
    <>
      <Choices
        label={t('copyAs')}
        value={language}
        onChange={(chosen) => setLanguage(chosen)}
        options={LANGUAGES.map((value) => ({ value, label: t(`languages.${value}`) }))}
      />
      <Snippet label={t(`languages.${language}`)} code={snippets[language]} />
    </>
  )
}
