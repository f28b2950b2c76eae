import { useTranslations } from 'use-intl'
import { UserFilter } from '../../../filters/choice-filters.tsx'
import { FilterPanel } from '../../../filters/filter-panel.tsx'
import { ListSearch } from '../../../filters/list-search.tsx'
import { setFilters } from '../../../filters/set-filters.ts'
import { useNames } from '../../../filters/use-names.ts'
import { Choices } from '../../../ui/fields/choices.tsx'
import { CheckField } from '../../../ui/fields/field.tsx'
import styles from '../keys.module.css'
import { type KeysSearch, STATES } from '../keys-search.ts'
import { SOON_DAYS } from '../state/key-expiry.ts'

interface KeysFiltersProps {
  readonly search: KeysSearch
  onChange(changed: KeysSearch): void
}

/** The controls above the list, which change the address. */
export function KeysFilters({ search, onChange }: KeysFiltersProps) {
  const t = useTranslations('keys')
  const names = useNames()
  const { state, owner, expiring, playground } = search
  const stateName = (name: (typeof STATES)[number]) => (name === 'all' ? t('all') : t(`states.${name}`))
  const set = setFilters<KeysSearch>(
    {
      state: [t('show'), state && stateName(state)],
      owner: [t('owner'), names.user(owner)],
      expiring: [t('expires'), expiring && t('showExpiring', { days: SOON_DAYS })],
    },
    onChange,
    { isUsual: true },
  )
  return (
    <FilterPanel
      label={t('filters')}
      set={set}
      search={
        <ListSearch
          label={t('search')}
          value={search.search}
          onChange={(text) => onChange({ search: text })}
        />
      }
    >
      <Choices
        label={t('show')}
        value={state ?? 'active'}
        options={STATES.map((value) => ({ value, label: stateName(value) }))}
        onChange={(chosen) => onChange({ state: chosen === 'active' ? undefined : chosen })}
      />
      <UserFilter value={owner} onChange={(chosen) => onChange({ owner: chosen })} />
      <div className={styles.beside}>
        <CheckField
          label={t('showExpiring', { days: SOON_DAYS })}
          checked={expiring === true}
          onChange={({ target }) => onChange({ expiring: target.checked ? true : undefined })}
        />
        <CheckField
          label={t('showPlayground')}
          checked={playground === true}
          onChange={({ target }) => onChange({ playground: target.checked ? true : undefined })}
        />
      </div>
    </FilterPanel>
  )
}
