import { type FormEvent, useState } from 'react'
import { useTranslations } from 'use-intl'
import { TextField } from '../../ui/fields/field.tsx'
import styles from './calls.module.css'

interface RequestIdFilterProps {
  readonly value: string | undefined
  onChange(value: string | undefined): void
}

/** Searches when Enter is pressed or the field is left, and not at each letter: each search reads the ledger. */
export function RequestIdFilter({ value, onChange }: RequestIdFilterProps) {
  const t = useTranslations('calls')
  const [text, setText] = useState(value ?? '')
  function search(event?: FormEvent) {
    event?.preventDefault()
    const wanted = text.trim() === '' ? undefined : text.trim()
    if (wanted !== value) onChange(wanted)
  }
  return (
    <form className={styles.requestId} onSubmit={search}>
      <TextField
        label={t('requestId')}
        type="search"
        value={text}
        maxLength={128}
        spellCheck={false}
        autoComplete="off"
        title={t('requestIdHint')}
        onChange={({ target }) => setText(target.value)}
        onBlur={() => search()}
      />
    </form>
  )
}
