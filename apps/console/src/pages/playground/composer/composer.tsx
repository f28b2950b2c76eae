import { Paperclip, SendHorizontal, Square } from 'lucide-react'
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { useTranslations } from 'use-intl'
import { Button, IconButton } from '../../../ui/button.tsx'
import type { SentFile } from '../chats/turn.ts'
import { AttachmentList } from './attachment-list.tsx'
import styles from './composer.module.css'
import type { Attachments } from './use-attachments.ts'

interface ComposerProps {
  readonly agentName: string
  /** Whether nothing was sent in the chat. */
  readonly isNew: boolean
  /** Absent where the agent takes no files. */
  readonly attachments: Attachments | undefined
  readonly isRunning: boolean
  /** True while there is no key to send with. */
  readonly isLocked: boolean
  /** Resolves with false if the message was not taken and is to be written anew. */
  onSend(query: string, files: readonly SentFile[]): Promise<boolean>
  onStop(): void
}

/** Where a message is written. Enter sends it, Shift and Enter begin a new line. */
export function Composer(props: ComposerProps) {
  const { agentName, isNew, attachments, isRunning, isLocked, onSend, onStop } = props
  const t = useTranslations('playground')
  // Not in the page: each key would draw all messages again.
  const [draft, setDraft] = useState('')
  const area = useRef<HTMLTextAreaElement>(null)
  const wasNew = useRef(isNew)
  useEffect(() => {
    // A user who begins a new chat wants to write, also if the page was opened with another chat.
    if (isNew && !wasNew.current) area.current?.focus()
    wasNew.current = isNew
  }, [isNew])
  const maySend = !isRunning && !isLocked && draft.trim() !== '' && attachments?.isReady !== false

  function send(event?: FormEvent) {
    event?.preventDefault()
    if (!maySend) return
    setDraft('')
    const files = attachments?.take() ?? []
    void onSend(draft, files).then((isTaken) => {
      if (isTaken) return
      setDraft((since) => (since === '' ? draft : `${draft}\n${since}`))
      attachments?.giveBack(files)
    })
    area.current?.focus()
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.key !== 'Enter' || event.shiftKey) return
    // Enter chooses a word of an input method. Safari reports the end of the composition first, and then this code.
    if (event.nativeEvent.isComposing || event.nativeEvent.keyCode === 229) return
    event.preventDefault()
    send()
  }

  return (
    <form className={styles.composer} onSubmit={send}>
      {attachments !== undefined && <AttachmentList attachments={attachments} />}
      <textarea
        ref={area}
        className={styles.text}
        value={draft}
        rows={2}
        aria-label={t('message')}
        placeholder={t('placeholder', { name: agentName })}
        onChange={({ target }) => setDraft(target.value)}
        onKeyDown={onKeyDown}
      />
      <div className={styles.bar}>
        {attachments !== undefined && <AttachButton onFiles={attachments.add} />}
        {attachments?.hasRefused === true ? (
          <span className={styles.refused} role="status">
            {t('removeRefused')}
          </span>
        ) : (
          <span className={styles.hint}>{t('keys')}</span>
        )}
        {isRunning ? (
          <Button onClick={onStop}>
            <Square aria-hidden />
            {t('stop')}
          </Button>
        ) : (
          <Button type="submit" look="primary" disabled={!maySend}>
            <SendHorizontal aria-hidden />
            {t('send')}
          </Button>
        )}
      </div>
    </form>
  )
}

function AttachButton({ onFiles }: { onFiles(files: Iterable<File>): void }) {
  const t = useTranslations('playground')
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={t('attach')}
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])])
          // The same file may be chosen again after it was removed.
          target.value = ''
        }}
      />
      <IconButton label={t('attach')} onClick={() => input.current?.click()}>
        <Paperclip aria-hidden />
      </IconButton>
    </>
  )
}
