import { useTranslations } from 'use-intl'
import { type ChoiceKind, useChoices } from '../choose/use-choices.ts'
import { useSession } from '../session/use-session.ts'
import { FilterSelect } from '../ui/fields/filter-select.tsx'
import styles from './filters.module.css'

interface ValueProps {
  readonly value: string | undefined
  onChange(value: string | undefined): void
}

/** One of the agents, keys or users. No users for users, who see no others. */
export function ChoiceFilter({ kind, ...props }: ValueProps & { readonly kind: ChoiceKind }) {
  const t = useTranslations('filters')
  const { role } = useSession()
  const choices = useChoices([kind])[kind]
  if (kind === 'user' && role !== 'admin') return null
  return <OptionFilter label={t(kind)} options={choices.map(({ id, label }) => [id, label])} {...props} />
}

interface OptionFilterProps extends ValueProps {
  readonly label: string
  readonly options: readonly (readonly [value: string, label: string])[]
}

/** One of the values that the page itself knows. */
export function OptionFilter(props: OptionFilterProps) {
  return <FilterSelect className={styles.filter} {...props} />
}
