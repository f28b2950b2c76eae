import { ChevronRight } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useTranslations } from 'use-intl'
import { useFormats } from '../../../format/use-formats.ts'
import { Button } from '../../../ui/button.tsx'
import styles from './frames.module.css'
import { type Frame, parseFrames } from './parse-frames.ts'

/** A long reply has thousands of frames, which would make the dialog slow. */
const SHOWN_AT_ONCE = 200

/** The frames of a reply as rows: what each adds is in sight, and the whole of it is folded. */
export function FrameRows({ text }: { readonly text: string }) {
  const t = useTranslations('playground.frame')
  const formats = useFormats()
  const frames = useMemo(() => parseFrames(text), [text])
  const [shown, setShown] = useState(SHOWN_AT_ONCE)
  return (
    <>
      <ol className={styles.rows} aria-label={t('parsed')}>
        {frames.slice(0, shown).map((frame, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the frames of a reply do not move.
          <FrameRow key={index} frame={frame} />
        ))}
      </ol>
      {frames.length > shown && (
        <Button className={styles.more} onClick={() => setShown(shown + SHOWN_AT_ONCE)}>
          {t('more', { left: formats.count(frames.length - shown) })}
        </Button>
      )}
    </>
  )
}

function FrameRow({ frame }: { readonly frame: Frame }) {
  const t = useTranslations('playground.frame')
  const [wasOpened, setOpened] = useState(false)
  const { id, kind, delta, data } = frame
  return (
    <li className={styles.row}>
      <details onToggle={() => setOpened(true)}>
        <summary className={styles.summary}>
          <ChevronRight aria-hidden />
          <span className={styles.id}>{id ?? '–'}</span>
          <span className={styles.kind}>{t(`kinds.${kind}`)}</span>
          <code className={styles.delta}>{kind === 'text' ? JSON.stringify(delta) : delta}</code>
        </summary>
        {wasOpened && <pre className={styles.data}>{data}</pre>}
      </details>
    </li>
  )
}
