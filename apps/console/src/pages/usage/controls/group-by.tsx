import { useTranslations } from 'use-intl'
import { useSession } from '../../../session/use-session.ts'
import { SelectField } from '../../../ui/fields/field.tsx'
import { GROUPS, type GroupName, groupsOf } from '../usage-search.ts'
import { useUsageSearch } from '../use-usage-search.ts'

/** By what the calls are grouped: a list for each property, and one more for the next. */
export function GroupBy() {
  const t = useTranslations('usage')
  const { role } = useSession()
  const { search, change } = useUsageSearch()
  const chosen = groupsOf(search.group)
  // All of a user's calls are its own.
  const offered = GROUPS.filter((name) => role === 'admin' || name !== 'user')
  const isFull = offered.every((name) => chosen.includes(name))
  function choose(place: number, name: GroupName | '') {
    const others = chosen.filter((_, other) => other !== place)
    // Without the agent, apps of the same name cannot be distinguished.
    const isWithoutAgent = chosen[place] === 'agent' && name !== 'agent'
    const kept = isWithoutAgent ? others.filter((other) => other !== 'app') : others
    change({ group: (name === '' ? kept : [...kept, name]).join(',') })
  }
  return [...chosen, ...(isFull ? [] : [undefined])].map((value, place) => (
    <SelectField
      key={value ?? 'next'}
      label={place === 0 ? t('groupBy') : t('thenBy')}
      value={value ?? ''}
      onChange={({ target }) => choose(place, target.value as GroupName | '')}
    >
      <option value="">{t('ungrouped')}</option>
      {offered
        .filter((name) => name === value || !chosen.includes(name))
        .map((name) => (
          <option key={name} value={name}>
            {t(`groups.${name}`)}
          </option>
        ))}
    </SelectField>
  ))
}
