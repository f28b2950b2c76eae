import { type FormEvent, useState } from 'react'
import { TextField } from '../ui/fields/field.tsx'
import styles from './filters.module.css'

interface LeastFilterProps {
  readonly label: string
  readonly value: number | undefined
  onChange(value: number | undefined): void
}

/** The least of something. Like a search it is applied when Enter is pressed or the field is left. */
export function LeastFilter({ label, value, onChange }: LeastFilterProps) {
  const [text, setText] = useState(value === undefined ? '' : String(value))
  function apply(event?: FormEvent) {
    event?.preventDefault()
    const number = /^\d{1,9}$/.test(text) ? Number(text) : undefined
    if (number !== value) onChange(number)
  }
  return (
    <form className={styles.least} onSubmit={apply}>
      <TextField
        label={label}
        type="number"
        inputMode="numeric"
        min={0}
        max={999_999_999}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onBlur={() => apply()}
      />
    </form>
  )
}
