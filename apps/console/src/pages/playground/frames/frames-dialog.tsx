import { useState } from 'react'
import { useTranslations } from 'use-intl'
import { Snippet } from '../../../ui/copy/copy.tsx'
import { Choices } from '../../../ui/fields/choices.tsx'
import { Dialog } from '../../../ui/overlays/dialog.tsx'
import type { Turn } from '../chats/turn.ts'
import { ExchangeView } from './exchange-view.tsx'
import { FrameRows } from './frame-rows.tsx'
import styles from './frames.module.css'

interface FramesDialogProps {
  readonly turn: Turn
  readonly isOpen: boolean
  onClose(): void
}

const VIEWS = ['parsed', 'headers', 'raw'] as const

/** A reply as the gateway has sent it: its frames, the headers of its requests, and the text as it came. */
export function FramesDialog({ turn, isOpen, onClose }: FramesDialogProps) {
  const t = useTranslations('playground.frame')
  const [chosen, setChosen] = useState<(typeof VIEWS)[number]>('parsed')
  const { frames, exchanges } = turn
  return (
    <Dialog title={t('title')} description={t('hint')} isOpen={isOpen} onClose={onClose} isWide>
      <Choices
        label={t('views')}
        value={chosen}
        onChange={(value) => setChosen(value)}
        options={VIEWS.map((value) => ({ value, label: t(value) }))}
      />
      {chosen === 'headers' ? (
        <div className={styles.exchanges}>
          {exchanges.map((exchange, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the requests of a reply that has ended do not move.
            <ExchangeView key={index} exchange={exchange} />
          ))}
        </div>
      ) : frames === '' ? (
        <p className={styles.none}>{t('notKept')}</p>
      ) : chosen === 'parsed' ? (
        <FrameRows text={frames} />
      ) : (
        <Snippet label={t('raw')} code={frames} />
      )}
    </Dialog>
  )
}
