import { type FormEvent, useState } from 'react'
import { useTranslations } from 'use-intl'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { TextField } from '../../ui/fields/field.tsx'
import styles from './playground.module.css'

interface PasteKeyProps {
  readonly hasKey: boolean
  onKey(key: string | undefined): void
}

/** For users who may not make keys. What they paste is in memory alone, and gone with the page. */
export function PasteKey({ hasKey, onKey }: PasteKeyProps) {
  const t = useTranslations('playground')
  const [text, setText] = useState('')
  function use(event: FormEvent) {
    event.preventDefault()
    const key = text.trim()
    if (key === '') return
    onKey(key)
    setText('')
  }
  if (hasKey)
    return (
      <p className={styles.usesKey}>
        {t('usesPastedKey')} <Button onClick={() => onKey(undefined)}>{t('forgetKey')}</Button>
      </p>
    )
  return (
    <Card title={t('pasteKey')}>
      <form className={styles.paste} onSubmit={use}>
        <TextField
          label={t('apiKey')}
          hint={t('pasteKeyHint')}
          type="password"
          autoComplete="off"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <Button type="submit" look="primary" disabled={text.trim() === ''}>
          {t('useKey')}
        </Button>
      </form>
    </Card>
  )
}
