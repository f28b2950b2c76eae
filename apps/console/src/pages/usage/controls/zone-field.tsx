import { useEffect, useState } from 'react'
import { useTranslations } from 'use-intl'
import { isReportable } from '../../../report/zone.ts'
import { SelectField } from '../../../ui/fields/field.tsx'
import { useUsageSearch } from '../use-usage-search.ts'

/** The time zone of the report, out of those in which the gateway can report. */
export function ZoneField() {
  const t = useTranslations('usage')
  const { search, change } = useUsageSearch()
  const [all, setAll] = useState(reportable ?? ['UTC'])
  useEffect(() => {
    // Looking through 400 zones takes a tenth of a second, which is spent while the report is on its way.
    const timer = setTimeout(() => setAll(reportableZones()))
    return () => clearTimeout(timer)
  }, [])
  const zones = all.includes(search.zone) ? all : [search.zone, ...all]
  return (
    <SelectField
      label={t('zone')}
      value={search.zone}
      onChange={({ target }) => change({ zone: target.value })}
    >
      {zones.map((zone) => (
        <option key={zone} value={zone}>
          {zone}
        </option>
      ))}
    </SelectField>
  )
}

let reportable: string[] | undefined

function reportableZones(): string[] {
  if (reportable !== undefined) return reportable
  const now = new Date()
  const named = Intl.supportedValuesOf('timeZone').filter((zone) => isReportable(zone, now))
  reportable = [...new Set(['UTC', ...named])]
  return reportable
}
