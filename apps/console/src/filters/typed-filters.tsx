import { type ComponentProps, type FormEvent, useState } from 'react'
import { useTranslations } from 'use-intl'
import { withoutKeySecret } from '../find/key-secret.ts'
import { TextField } from '../ui/fields/field.tsx'
import styles from './filters.module.css'

interface TypedFilterProps<Value> extends Omit<ComponentProps<typeof TextField>, 'value' | 'onChange'> {
  readonly value: Value | undefined
  onChange(value: Value | undefined): void
}

/** The value of a field that is applied when Enter is pressed or the field is left, and not at each letter: each reads a list. */
function useTyped<Value>(
  { value, onChange }: Pick<TypedFilterProps<Value>, 'value' | 'onChange'>,
  read: (text: string) => Value | undefined,
) {
  const [text, setText] = useState(String(value ?? ''))
  function apply(event?: FormEvent) {
    event?.preventDefault()
    const wanted = read(text.trim())
    if (wanted !== value) onChange(wanted)
  }
  return { text, setText, apply }
}

/** An id to look for. */
export function SearchFilter({ value, onChange, maxLength = 128, ...field }: TypedFilterProps<string>) {
  const t = useTranslations('filters')
  const { text, setText, apply } = useTyped({ value, onChange }, (typed) => typed || undefined)
  return (
    <form className={styles.search} onSubmit={apply}>
      <TextField
        type="search"
        value={text}
        maxLength={maxLength}
        spellCheck={false}
        autoComplete="off"
        title={t('searchHint')}
        onChange={({ target }) => setText(withoutKeySecret(target.value))}
        onBlur={() => apply()}
        {...field}
      />
    </form>
  )
}

/** The least of something. */
export function LeastFilter({ value, onChange, ...field }: TypedFilterProps<number>) {
  const { text, setText, apply } = useTyped({ value, onChange }, (typed) =>
    /^\d{1,9}$/.test(typed) ? Number(typed) : undefined,
  )
  return (
    <form className={styles.least} onSubmit={apply}>
      <TextField
        type="number"
        inputMode="numeric"
        min={0}
        max={999_999_999}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onBlur={() => apply()}
        {...field}
      />
    </form>
  )
}

interface ListSearchProps {
  readonly label: string
  readonly value: string | undefined
  onChange(value: string | undefined): void
}

/** A part of a name to look for, at each letter. */
export function ListSearch({ label, value, onChange }: ListSearchProps) {
  return (
    <TextField
      label={label}
      type="search"
      maxLength={100}
      value={value ?? ''}
      onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
    />
  )
}
