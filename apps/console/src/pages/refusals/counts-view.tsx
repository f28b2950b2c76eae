import { useMemo } from 'react'
import { useTranslations } from 'use-intl'
import { ChartCard } from '../../charts/chart-card.tsx'
import type { ChartData } from '../../charts/chart-data.ts'
import { Count } from '../../charts/count.tsx'
import { useFormats } from '../../format/use-formats.ts'
import { Card } from '../../ui/card.tsx'
import { numeric, Table, time } from '../../ui/table.tsx'
import { type CountBuckets, endOf } from './count-buckets.ts'
import { type CountGroup, chartOf, filterOf, groupCounts } from './count-groups.ts'
import { type CountRow, useGroupName } from './group-names.ts'
import type { Group } from './refusals-search.ts'

interface CountsViewProps {
  readonly rows: readonly CountRow[]
  readonly groups: readonly Group[]
  readonly buckets: CountBuckets
  readonly linkTo: ChartData['linkTo']
}

/** The chart of the groups with the most, the numbers of its hours or days, and the totals of all groups. */
export function CountsView({ rows, groups, buckets, linkTo }: CountsViewProps) {
  const t = useTranslations('refusals')
  const formats = useFormats(buckets.zone)
  const groupName = useGroupName()
  const counted = useMemo(() => groupCounts(rows, groups), [rows, groups])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the names follow from the groups and the language, as `t` does.
  const data = useMemo(() => {
    const nameOf = ({ row }: CountGroup) =>
      groups.length === 0 ? t('number') : groups.map((group) => groupName(row, group)).join(' · ')
    return chartOf({ ...buckets, groups: counted, by: groups, nameOf, linkTo, others: t('others') })
  }, [counted, groups, buckets, linkTo, t])
  const first = buckets.starts[0] ?? buckets.end
  return (
    <>
      <ChartCard title={t('over')} label={`${t('over')}, ${formats.range(first, buckets.end)}`} data={data} />
      <Card title={t('totals')} isFlush>
        <TotalsTable {...{ counted, groups, buckets, linkTo }} />
      </Card>
    </>
  )
}

/** More rows than anybody reads; the chart has the first seven anyway. */
const ROWS_MAX = 100

interface TotalsTableProps extends Pick<CountsViewProps, 'groups' | 'buckets' | 'linkTo'> {
  readonly counted: readonly CountGroup[]
}

function TotalsTable({ counted, groups, buckets, linkTo }: TotalsTableProps) {
  const t = useTranslations('refusals')
  const formats = useFormats(buckets.zone)
  const groupName = useGroupName()
  const total = counted.reduce((sum, { count }) => sum + count, 0)
  const lastOf = (start: string) =>
    buckets.granularity === 'DAY' ? formats.date(start) : formats.range(start, endOf(buckets, start))
  const names = groups.length === 0 ? [t('all')] : groups.map((group) => t(`groups.${group}`))
  const shown = counted.slice(0, ROWS_MAX)
  const linkOf = (group: CountGroup) => {
    const filter = filterOf(group, groups)
    return filter && linkTo(buckets.starts[0] ?? buckets.end, buckets.end, filter)
  }
  return (
    <>
      <Table label={t('totalsOf')}>
        <thead>
          <tr>
            {names.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
            <th scope="col" className={numeric}>
              {t('number')}
            </th>
            <th scope="col" className={numeric}>
              {t('share')}
            </th>
            <th scope="col">{t('last')}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((group, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a row has no other name than all of its cells.
            <tr key={place}>
              {groups.length === 0 && <th scope="row">{t('all')}</th>}
              {groups.map((name, column) =>
                column === 0 ? (
                  <th key={name} scope="row">
                    {groupName(group.row, name)}
                  </th>
                ) : (
                  <td key={name}>{groupName(group.row, name)}</td>
                ),
              )}
              <td className={numeric}>
                <Count value={group.count} link={linkOf(group)} />
              </td>
              <td className={numeric}>{formats.percent(group.count / total)}</td>
              <td className={time}>{lastOf(group.last)}</td>
            </tr>
          ))}
        </tbody>
      </Table>
      {counted.length > shown.length && (
        <p>{t('moreGroups', { shown: shown.length, count: counted.length })}</p>
      )}
    </>
  )
}
