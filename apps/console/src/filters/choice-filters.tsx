import { useTranslations } from 'use-intl'
import { useAgentChoices, useKeyChoices, useUserChoices } from '../choose/use-choices.ts'
import { useSession } from '../session/use-session.ts'
import { FilterSelect } from '../ui/fields/filter-select.tsx'
import styles from './filters.module.css'

interface ChoiceFilterProps {
  readonly value: string | undefined
  onChange(value: string | undefined): void
}

export function AgentFilter({ value, onChange }: ChoiceFilterProps) {
  const t = useTranslations('filters')
  const agents = useAgentChoices()
  return (
    <FilterSelect
      className={styles.filter}
      label={t('agent')}
      value={value}
      options={agents.map(({ id, name }) => [id, name])}
      onChange={onChange}
    />
  )
}

export function KeyFilter({ value, onChange }: ChoiceFilterProps) {
  const t = useTranslations('filters')
  const keys = useKeyChoices()
  return (
    <FilterSelect
      className={styles.filter}
      label={t('key')}
      value={value}
      options={keys.map(({ id, name, keyPrefix }) => [id, `${name} (${keyPrefix}…)`])}
      onChange={onChange}
    />
  )
}

/** Nothing for users, who see no others. */
export function UserFilter({ value, onChange }: ChoiceFilterProps) {
  const t = useTranslations('filters')
  const { role } = useSession()
  const users = useUserChoices()
  if (role !== 'admin') return null
  return (
    <FilterSelect
      className={styles.filter}
      label={t('user')}
      value={value}
      options={users.map(({ id, username }) => [id, username])}
      onChange={onChange}
    />
  )
}

interface OptionFilterProps extends ChoiceFilterProps {
  readonly label: string
  readonly options: readonly (readonly [value: string, label: string])[]
}

/** One of the values that the page itself knows. */
export function OptionFilter(props: OptionFilterProps) {
  return <FilterSelect className={styles.filter} {...props} />
}
