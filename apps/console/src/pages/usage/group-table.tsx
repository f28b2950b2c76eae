import { useTranslations } from 'use-intl'
import { useFormats } from '../../format/use-formats.ts'
import type { GroupNumbersFragment } from '../../generated/graphql.ts'
import { numeric, Table } from '../../ui/table.tsx'
import { useGroupNames } from './group-names.ts'
import type { Report } from './usage-series.ts'

/** The numbers of each group over the whole range, and of all together. */
export function GroupTable({ report }: { readonly report: Report }) {
  const t = useTranslations('usage')
  const namesOf = useGroupNames()
  const groups = report.groups ?? []
  const names = namesOf(groups)
  return (
    <>
      <Table label={t('groupTable')}>
        <thead>
          <tr>
            <th scope="col">
              {report.groupBy.length === 0
                ? t('group')
                : report.groupBy.map((name) => t(`groups.${groupKey(name)}`)).join(' · ')}
            </th>
            {COLUMNS.map((name) => (
              <th key={name} scope="col" className={numeric}>
                {t(`columns.${name}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {groups.map(({ totals }, index) => (
            <Row key={names[index]} name={names[index] ?? ''} numbers={totals} />
          ))}
        </tbody>
        <tfoot>
          <Row name={t('total')} numbers={report.totals} />
        </tfoot>
      </Table>
      {report.groupCount > groups.length && groups.length > 0 && (
        <p>{t('moreGroups', { shown: groups.length, count: report.groupCount })}</p>
      )}
    </>
  )
}

const COLUMNS = [
  'calls',
  'failures',
  'tokens',
  'firstChunkP50',
  'firstChunkP95',
  'durationP50',
  'durationP95',
  'durationP99',
] as const

function Row({ name, numbers }: { readonly name: string; readonly numbers: GroupNumbersFragment }) {
  const formats = useFormats()
  const { calls, failedCalls, totalTokens, firstChunkMs, durationMs } = numbers
  const time = (ms: number | undefined) => (ms === undefined ? '–' : formats.duration(ms))
  const cells = [
    formats.count(calls),
    formats.count(failedCalls),
    totalTokens === null ? '–' : formats.count(totalTokens),
    time(firstChunkMs?.p50),
    time(firstChunkMs?.p95),
    time(durationMs?.p50),
    time(durationMs?.p95),
    time(durationMs?.p99),
  ]
  return (
    <tr>
      <th scope="row">{name}</th>
      {COLUMNS.map((column, index) => (
        <td key={column} className={numeric}>
          {cells[index]}
        </td>
      ))}
    </tr>
  )
}

function groupKey<Name extends string>(name: Name): Lowercase<Name> {
  return name.toLowerCase() as Lowercase<Name>
}
