import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { useTranslations } from 'use-intl'
import { Button } from '../../../ui/button.tsx'
import { TextArea } from '../../../ui/fields/field.tsx'
import { Actions } from '../../../ui/overlays/dialog.tsx'
import styles from './turn.module.css'

interface QuestionEditorProps {
  readonly query: string
  readonly maySend: boolean
  onSend(query: string): void
  onCancel(): void
}

/** Changes a question that was sent, and says what sending it again does. */
export function QuestionEditor({ query, maySend, onSend, onCancel }: QuestionEditorProps) {
  const t = useTranslations('playground')
  const common = useTranslations('common')
  const [text, setText] = useState(query)
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    const area = form.current?.querySelector('textarea')
    area?.focus()
    area?.setSelectionRange(area.value.length, area.value.length)
    form.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  function send(event: FormEvent) {
    event.preventDefault()
    if (text.trim() !== '' && maySend) onSend(text)
  }
  function onKeyDown({ key, nativeEvent }: KeyboardEvent) {
    // Escape also closes the list of an input method. What was changed is given up by the button alone.
    if (key === 'Escape' && !nativeEvent.isComposing && text === query) onCancel()
  }
  return (
    <form className={styles.editor} ref={form} onSubmit={send}>
      <TextArea
        label={t('editQuestion')}
        hint={t('editHint')}
        value={text}
        rows={3}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={onKeyDown}
      />
      <Actions>
        <Button onClick={onCancel}>{common('cancel')}</Button>
        <Button type="submit" look="primary" disabled={text.trim() === '' || !maySend}>
          {t('sendAgain')}
        </Button>
      </Actions>
    </form>
  )
}
