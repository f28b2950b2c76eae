import { TextField } from '../ui/fields/field.tsx'

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
