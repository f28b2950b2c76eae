import { useTranslations } from 'use-intl'
import { OptionFilter } from '../../filters/choice-filters.tsx'
import { FilterPanel } from '../../filters/filter-panel.tsx'
import { ListSearch } from '../../filters/list-search.tsx'
import { setFilters } from '../../filters/set-filters.ts'
import { lowerCase } from './user-record.ts'
import { QUOTAS, ROLES, STATUSES, type UsersSearch } from './users-search.ts'

interface UsersFiltersProps {
  readonly search: UsersSearch
  onChange(changed: UsersSearch): void
}

/** The controls above the list, which change the address. */
export function UsersFilters({ search, onChange }: UsersFiltersProps) {
  const t = useTranslations('users')
  const common = useTranslations('common')
  const { role, status, quota } = search
  const shareOf = (percent: (typeof QUOTAS)[number]) =>
    percent === 100 ? t('quotaAll') : t('quotaFrom', { percent })
  const set = setFilters<UsersSearch>(
    {
      role: [t('role'), role && common(`roles.${lowerCase(role)}`)],
      status: [t('status'), status && t(`statuses.${lowerCase(status)}`)],
      quota: [t('quotaShare'), quota && shareOf(quota)],
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
      <OptionFilter
        label={t('role')}
        value={search.role}
        options={ROLES.map((name) => [name, common(`roles.${lowerCase(name)}`)])}
        onChange={(chosen) => onChange({ role: chosen as UsersSearch['role'] })}
      />
      <OptionFilter
        label={t('status')}
        value={search.status}
        options={STATUSES.map((name) => [name, t(`statuses.${lowerCase(name)}`)])}
        onChange={(chosen) => onChange({ status: chosen as UsersSearch['status'] })}
      />
      <OptionFilter
        label={t('quotaShare')}
        value={quota === undefined ? undefined : String(quota)}
        options={QUOTAS.map((percent) => [String(percent), shareOf(percent)])}
        onChange={(chosen) => onChange({ quota: QUOTAS.find((percent) => String(percent) === chosen) })}
      />
    </FilterPanel>
  )
}
