import { useTranslations } from 'use-intl'
import { OptionFilter } from '../../filters/choice-filters.tsx'
import { TextField } from '../../ui/fields/field.tsx'
import { Toolbar } from '../../ui/page.tsx'
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
  return (
    <Toolbar label={t('filters')}>
      <TextField
        label={t('search')}
        type="search"
        maxLength={100}
        value={search.search ?? ''}
        onChange={({ target }) => onChange({ search: target.value || undefined })}
      />
      <OptionFilter
        label={t('role')}
        value={search.role}
        options={ROLES.map((role) => [role, common(`roles.${lowerCase(role)}`)])}
        onChange={(role) => onChange({ role: role as UsersSearch['role'] })}
      />
      <OptionFilter
        label={t('status')}
        value={search.status}
        options={STATUSES.map((status) => [status, t(`statuses.${lowerCase(status)}`)])}
        onChange={(status) => onChange({ status: status as UsersSearch['status'] })}
      />
      <OptionFilter
        label={t('quotaShare')}
        value={search.quota}
        options={QUOTAS.map((quota) => [
          quota,
          quota === '100' ? t('quotaAll') : t('quotaFrom', { percent: quota }),
        ])}
        onChange={(quota) => onChange({ quota: quota as UsersSearch['quota'] })}
      />
    </Toolbar>
  )
}
