import { type FormEvent, useState } from 'react'
import { useTranslations } from 'use-intl'
import { fromWallTime, toWallTime } from '../../../report/zone.ts'
import { Button } from '../../../ui/button.tsx'
import { Choices } from '../../../ui/fields/choices.tsx'
import { TextField } from '../../../ui/fields/field.tsx'
import { CALENDAR, GRANULARITIES, granularitiesOf, LENGTHS, type Preset, rangeOf } from '../usage-search.ts'
import { useUsageSearch } from '../use-usage-search.ts'
import styles from './controls.module.css'

/** The range of the report, by a preset or by two times and the length of its buckets. */
export function RangeForm() {
  const t = useTranslations('usage')
  const { search, change } = useUsageSearch()
  const { zone, range, by } = search
  const [from, to] = rangeOf(search, zone, new Date())
  const allowed = granularitiesOf(from, to)
  const bounds = { from: toWallTime(from, zone), to: toWallTime(to, zone) }
  const choose = (preset: Preset) => change({ range: preset, from: undefined, to: undefined, by: undefined })
  return (
    <>
      <div className={styles.row}>
        <Choices
          label={t('range')}
          value={LENGTHS.find((name) => name === range)}
          options={LENGTHS.map((value) => ({ value, label: t(`ranges.${value}`) }))}
          onChange={choose}
        />
        <Choices
          label={t('calendar')}
          value={range === undefined ? 'custom' : CALENDAR.find((name) => name === range)}
          options={[...CALENDAR, 'custom' as const].map((value) => ({ value, label: t(`ranges.${value}`) }))}
          onChange={(value) => {
            if (value !== 'custom') choose(value)
            else change({ range: undefined, from: from.toISOString(), to: to.toISOString() })
          }}
        />
        <Choices
          label={t('granularity')}
          value={by}
          options={GRANULARITIES.filter((name) => allowed.includes(name)).map((value) => ({
            value,
            label: t(`granularities.${value}`),
          }))}
          onChange={(value) => change({ by: value })}
        />
      </div>
      {/* With another range, the fields begin with its times. */}
      {range === undefined && <Bounds key={`${bounds.from} ${bounds.to} ${zone}`} {...bounds} />}
    </>
  )
}

function Bounds(initial: { readonly from: string; readonly to: string }) {
  const t = useTranslations('usage')
  const { search, change } = useUsageSearch()
  const [error, setError] = useState<string>()
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const [from, to] = ['from', 'to'].map((name) => fromWallTime(String(form.get(name)), search.zone))
    if (from === undefined || to === undefined || from >= to) return setError(t('notARange'))
    change({ range: undefined, from: from.toISOString(), to: to.toISOString(), by: undefined })
  }
  return (
    <form className={styles.bounds} noValidate onSubmit={submit}>
      <TextField label={t('from')} name="from" type="datetime-local" defaultValue={initial.from} />
      <TextField label={t('to')} name="to" type="datetime-local" defaultValue={initial.to} error={error} />
      <Button type="submit">{t('apply')}</Button>
    </form>
  )
}
