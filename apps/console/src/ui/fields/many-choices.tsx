import { Toggle } from '@base-ui/react/toggle'
import { ToggleGroup } from '@base-ui/react/toggle-group'
import styles from './choices.module.css'

interface ManyChoicesProps<Value extends string> {
  readonly label: string
  readonly values: readonly Value[]
  readonly options: readonly { readonly value: Value; readonly label: string }[]
  onChange(values: readonly Value[]): void
}

/** Any of a few values, all in sight. */
export function ManyChoices<Value extends string>({
  label,
  values,
  options,
  onChange,
}: ManyChoicesProps<Value>) {
  return (
    <ToggleGroup
      className={styles.choices}
      aria-label={label}
      multiple
      value={values}
      onValueChange={(chosen) => onChange(chosen as Value[])}
    >
      {options.map((option) => (
        <Toggle key={option.value} value={option.value} className={styles.choice}>
          {option.label}
        </Toggle>
      ))}
    </ToggleGroup>
  )
}
