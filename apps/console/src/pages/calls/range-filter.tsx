import { useTranslations } from 'use-intl'
import { Choices } from '../../ui/fields/choices.tsx'
import { TextField } from '../../ui/fields/field.tsx'
import { Toolbar } from '../../ui/page.tsx'
import { localTime, rangeOf, shownRange, typedTime } from './calls-range.ts'
import { type CallsSearch, RANGES } from './calls-search.ts'

interface RangeFilterProps {
  readonly search: CallsSearch
  onChange(changed: CallsSearch): void
}

/** The time that the list covers: one of a few lengths, or from one moment to another. */
export function RangeFilter({ search, onChange }: RangeFilterProps) {
  const t = useTranslations('calls')
  const shown = shownRange(search)
  return (
    <Toolbar label={t('range')}>
      <Choices
        label={t('range')}
        value={shown}
        options={[...RANGES, 'custom' as const].map((value) => ({ value, label: t(`ranges.${value}`) }))}
        onChange={(value) => {
          if (value !== 'custom') onChange({ range: value, from: undefined, to: undefined })
          else onChange({ range: undefined, from: dayStart(rangeOf(search, new Date()).from) })
        }}
      />
      {shown === 'custom' && (
        <>
          <TextField
            label={t('from')}
            type="datetime-local"
            value={localTime(search.from)}
            max={localTime(search.to)}
            onChange={({ target }) => onChange({ from: typedTime(target.value) })}
          />
          <TextField
            label={t('to')}
            type="datetime-local"
            value={localTime(search.to)}
            min={localTime(search.from)}
            onChange={({ target }) => onChange({ to: typedTime(target.value) })}
          />
        </>
      )}
    </Toolbar>
  )
}

/** The start of a day, which is easier to change than the moment at which the page was opened. */
function dayStart(from: string | undefined): string {
  const date = from === undefined ? new Date() : new Date(from)
  date.setHours(0, 0, 0, 0)
  return date.toISOString()
}
