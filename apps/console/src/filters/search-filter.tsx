import { type FormEvent, useState } from 'react'
import { useTranslations } from 'use-intl'
import { withoutKeySecret } from '../find/key-secret.ts'
import { TextField } from '../ui/fields/field.tsx'
import styles from './filters.module.css'

interface SearchFilterProps {
  readonly label: string
  readonly value: string | undefined
  readonly maxLength?: number | undefined
  onChange(value: string | undefined): void
}

/** An id to look for. It searches when Enter is pressed or the field is left, and not at each letter: each search reads a list. */
export function SearchFilter({ label, value, maxLength = 128, onChange }: SearchFilterProps) {
  const t = useTranslations('filters')
  const [text, setText] = useState(value ?? '')
  function search(event?: FormEvent) {
    event?.preventDefault()
    const wanted = text.trim() === '' ? undefined : text.trim()
    if (wanted !== value) onChange(wanted)
  }
  return (
    <form className={styles.search} onSubmit={search}>
      <TextField
        label={label}
        type="search"
        value={text}
        maxLength={maxLength}
        spellCheck={false}
        autoComplete="off"
        title={t('searchHint')}
        onChange={({ target }) => setText(withoutKeySecret(target.value))}
        onBlur={() => search()}
      />
    </form>
  )
}
