import { useTranslations } from 'use-intl'
import { callsLink } from '../../charts/calls-link.ts'
import type { RecordFilter } from '../../charts/chart-data.ts'
import { Way } from '../../charts/count.tsx'
import type { NumbersFragment } from '../../generated/graphql.ts'
import type { Column } from '../../lists/column.ts'
import { ListTable } from '../../lists/list-table.tsx'
import { GroupCell } from './group-cell.tsx'
import { columnsOf, type GroupColumn } from './group-columns.ts'
import { groupFilter, useGroupNames } from './group-names.ts'
import type { UsageSearch } from './usage-search.ts'
import type { Report } from './usage-series.ts'

interface GroupTableProps {
  readonly report: Report
  readonly search: UsageSearch
}

type Period = Pick<Report, 'from' | 'to'>

interface Group {
  readonly name: string
  /** What its calls have in common; undefined where no list has just these. */
  readonly filter: RecordFilter | undefined
  readonly numbers: NumbersFragment
  readonly before: NumbersFragment | null | undefined
  readonly isTotal?: boolean
}

/** The numbers of each group over the whole range, and of all together. Each leads to the calls that it counts. */
export function GroupTable({ report, search }: GroupTableProps) {
  const t = useTranslations('usage')
  const namesOf = useGroupNames()
  const { groupBy, previous } = report
  // Those that called only in the period before stand below the others.
  const groups = [...(report.groups ?? []), ...(report.missingGroups ?? [])]
  const shown = report.groups?.length ?? 0
  const isCompared = previous != null
  const names = namesOf(groups)
  const calledIn = callsLink(commonFilter(search))
  const linkIn = (time: Period | null | undefined, { filter }: Group, ofNumber: RecordFilter = {}) =>
    // A group of failures has an outcome of its own.
    time && filter && calledIn(time.from, time.to, { ...ofNumber, ...filter })
  const linkOf = (time: Period | null | undefined, group: Group, column: GroupColumn) => {
    const numbers = time === previous ? group.before : group.numbers
    const value = numbers && column.read(numbers)
    return value ? (linkIn(time, group, column.filter(value)) ?? undefined) : undefined
  }
  const columns: Column<Group>[] = [
    {
      head:
        groupBy.length === 0 ? t('group') : groupBy.map((name) => t(`groups.${groupKey(name)}`)).join(' · '),
      cell(group) {
        // One that called only in the period before leads to its calls there.
        const link =
          group.isTotal === true ? undefined : linkIn(group.numbers.calls === 0 ? previous : report, group)
        return <Way link={link || undefined}>{group.name}</Way>
      },
    },
    ...columnsOf(search.show, isCompared).map(
      (column): Column<Group> => ({
        head: t(`columns.${column.name}`),
        kind: 'numeric',
        cell: (group) => (
          <GroupCell
            column={column}
            numbers={group.numbers}
            before={group.before}
            link={linkOf(report, group, column)}
            linkBefore={linkOf(previous, group, column)}
          />
        ),
      }),
    ),
  ]
  const rows = groups.map(
    (group, index): Group => ({
      name: names[index] ?? '',
      filter: groupFilter(group),
      numbers: group.totals,
      before: isCompared ? group.previousTotals : undefined,
    }),
  )
  const total: Group = {
    name: t('total'),
    filter: {},
    numbers: report.totals,
    before: previous?.totals,
    isTotal: true,
  }
  return (
    <>
      <ListTable
        label={t('groupTable')}
        columns={columns}
        rows={rows}
        keyOf={({ name }) => name}
        total={total}
      />
      {report.groupCount > shown && shown > 0 && (
        <p>{t('moreGroups', { shown, count: report.groupCount })}</p>
      )}
    </>
  )
}

/** What all calls of the report have in common. */
export function commonFilter({ agent, key, user }: UsageSearch): RecordFilter {
  return { agent, key, user }
}

function groupKey<Name extends string>(name: Name): Lowercase<Name> {
  return name.toLowerCase() as Lowercase<Name>
}
