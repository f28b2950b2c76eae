import { Toggle } from '@base-ui/react/toggle'
import { ToggleGroup } from '@base-ui/react/toggle-group'
import styles from './choices.module.css'

interface ChoicesProps<Value extends string> {
  readonly label: string
  /** Undefined where none of them holds. */
  readonly value: Value | undefined
  readonly options: readonly { readonly value: Value; readonly label: string }[]
  onChange(value: Value): void
}

/** One of a few values, all in sight. */
export function Choices<Value extends string>({ label, value, options, onChange }: ChoicesProps<Value>) {
  return (
    <ToggleGroup
      className={styles.choices}
      aria-label={label}
      value={value === undefined ? [] : [value]}
      onValueChange={([chosen]) => {
        if (chosen !== undefined) onChange(chosen as Value)
      }}
    >
      {options.map((option) => (
        <Toggle key={option.value} value={option.value} className={styles.choice}>
          {option.label}
        </Toggle>
      ))}
    </ToggleGroup>
  )
}
