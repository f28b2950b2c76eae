import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { callsLink } from '../../charts/calls-link.ts'
import type { RecordFilter } from '../../charts/chart-data.ts'
import type { GroupNumbersFragment } from '../../generated/graphql.ts'
import type { Column } from '../../lists/column.ts'
import { ListTable } from '../../lists/list-table.tsx'
import { GroupCell } from './group-cell.tsx'
import { columnsOf } from './group-columns.ts'
import { groupFilter } from './group-filter.ts'
import { useGroupNames } from './group-names.ts'
import type { UsageSearch } from './usage-search.ts'
import type { Report } from './usage-series.ts'

interface GroupTableProps {
  readonly report: Report
  readonly search: UsageSearch
}

interface Group {
  readonly name: string
  /** What its calls have in common; undefined where no list has just these. */
  readonly filter: RecordFilter | undefined
  readonly numbers: GroupNumbersFragment
  readonly before: GroupNumbersFragment | null | undefined
  readonly isTotal?: boolean
}

/** The numbers of each group over the whole range, and of all together. Each leads to the calls that it counts. */
export function GroupTable({ report, search }: GroupTableProps) {
  const t = useTranslations('usage')
  const namesOf = useGroupNames()
  const { groupBy, previous, from, to } = report
  // Those that called only in the period before stand below the others.
  const groups = [...(report.groups ?? []), ...(report.missingGroups ?? [])]
  const shown = report.groups?.length ?? 0
  const isCompared = previous != null
  const names = namesOf(groups)
  const calledIn = callsLink(commonFilter(search))
  const linkOf = ({ filter }: Group, ofNumber: RecordFilter = {}) =>
    // A group of failures has an outcome of its own.
    filter && calledIn(from, to, { ...ofNumber, ...filter })
  const columns: Column<Group>[] = [
    {
      head:
        groupBy.length === 0 ? t('group') : groupBy.map((name) => t(`groups.${groupKey(name)}`)).join(' · '),
      cell(group) {
        const link = group.isTotal === true ? undefined : linkOf(group)
        return link === undefined ? group.name : <Link {...link}>{group.name}</Link>
      },
    },
    ...columnsOf(search.show, isCompared).map(
      (column): Column<Group> => ({
        head: t(`columns.${column.name}`),
        kind: 'numeric',
        cell(group) {
          const value = column.read(group.numbers)
          const ofNumber = value === null || value === 0 ? undefined : column.filter(value)
          const link = ofNumber && linkOf(group, ofNumber)
          return <GroupCell column={column} numbers={group.numbers} before={group.before} link={link} />
        },
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
