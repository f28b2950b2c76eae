import { useTranslations } from 'use-intl'
import { Choices } from '../ui/fields/choices.tsx'
import { TextField } from '../ui/fields/field.tsx'
import { Toolbar } from '../ui/page.tsx'
import { localTime, type TimeSearch, typedTime } from './address.ts'

type Preset = '1h' | '24h' | '7d' | '30d' | '31d' | 'all'

interface RangeFilterProps<Range extends Preset> {
  readonly presets: readonly Range[]
  /** What is pressed; undefined where the list covers another time than any of these. */
  readonly shown: Range | 'custom' | undefined
  readonly search: TimeSearch
  /** Where the list begins, by which a range of one's own begins as well. */
  readonly start: string | undefined
  onChange(changed: TimeSearch & { readonly range?: Range | undefined }): void
}

/** The time that a list covers: one of a few lengths, or from one moment to another. */
export function RangeFilter<Range extends Preset>({
  presets,
  shown,
  search,
  start,
  onChange,
}: RangeFilterProps<Range>) {
  const t = useTranslations('filters')
  return (
    <Toolbar label={t('range')}>
      <Choices
        label={t('range')}
        value={shown}
        options={[...presets, 'custom' as const].map((value) => ({ value, label: t(`ranges.${value}`) }))}
        onChange={(value) => {
          if (value === 'custom') onChange({ range: undefined, from: dayStart(start) })
          else onChange({ range: value, from: undefined, to: undefined })
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
