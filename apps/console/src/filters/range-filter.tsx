import { useTranslations } from 'use-intl'
import { Choices } from '../ui/fields/choices.tsx'
import { TextField } from '../ui/fields/field.tsx'
import { Toolbar } from '../ui/page.tsx'
import { localTime, type TimeSearch, typedTime } from './address.ts'
import type { Preset, RangeSearch } from './range.ts'

interface RangeFilterProps {
  readonly presets: readonly Preset[]
  /** What is pressed; undefined where the list covers another time than any of these. */
  readonly shown: Preset | 'custom' | undefined
  readonly search: TimeSearch
  /** Where the list begins, by which a range of one's own begins as well. */
  readonly start: string | undefined
  onChange(changed: RangeSearch): void
}

/** The time that a list covers: one of a few lengths, or from one moment to another. */
export function RangeFilter({ presets, shown, search, start, onChange }: RangeFilterProps) {
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
          <TimeFilter
            label={t('from')}
            value={search.from}
            max={search.to}
            onChange={(from) => onChange({ from })}
          />
          <TimeFilter
            label={t('to')}
            value={search.to}
            min={search.from}
            onChange={(to) => onChange({ to })}
          />
        </>
      )}
    </Toolbar>
  )
}

interface TimeFilterProps {
  readonly label: string
  readonly value: string | undefined
  readonly min?: string | undefined
  readonly max?: string | undefined
  onChange(value: string | undefined): void
}

/** A moment in the reader's time zone. */
export function TimeFilter({ label, value, min, max, onChange }: TimeFilterProps) {
  return (
    <TextField
      label={label}
      type="datetime-local"
      value={localTime(value)}
      min={localTime(min)}
      max={localTime(max)}
      onChange={({ target }) => onChange(typedTime(target.value))}
    />
  )
}

/** The start of a day, which is easier to change than the moment at which the page was opened. */
function dayStart(from: string | undefined): string {
  const date = from === undefined ? new Date() : new Date(from)
  date.setHours(0, 0, 0, 0)
  return date.toISOString()
}
