import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import { callsLink } from '../../charts/calls-link.ts'
import type { RecordFilter } from '../../charts/chart-data.ts'
import { numeric, Table } from '../../ui/table.tsx'
import { columnsOf } from './group-columns.ts'
import { groupFilter } from './group-filter.ts'
import { useGroupNames } from './group-names.ts'
import { GroupRow } from './group-row.tsx'
import type { UsageSearch } from './usage-search.ts'
import type { Report } from './usage-series.ts'

interface GroupTableProps {
  readonly report: Report
  readonly search: UsageSearch
}

/** The numbers of each group over the whole range, and of all together. Each leads to the calls that it counts. */
export function GroupTable({ report, search }: GroupTableProps) {
  const t = useTranslations('usage')
  const namesOf = useGroupNames()
  const { groups = [], previous, from, to } = report
  const names = namesOf(groups)
  const columns = columnsOf(search.show, previous != null)
  const calledIn = callsLink(commonFilter(search))
  const linkOf = (ofGroup: RecordFilter | undefined, filter: RecordFilter = {}) =>
    // A group of failures has an outcome of its own.
    ofGroup && calledIn(from, to, { ...filter, ...ofGroup })
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
            {columns.flatMap(({ name, isCompared = false }) => [
              <Head key={name}>{t(`columns.${name}`)}</Head>,
              isCompared && <Head key={`${name} before`}>{t('columnBefore')}</Head>,
              isCompared && <Head key={`${name} change`}>{t('columnChange')}</Head>,
            ])}
          </tr>
        </thead>
        <tbody>
          {groups.map((group, index) => {
            const ofGroup = groupFilter(group)
            const name = names[index] ?? ''
            const link = linkOf(ofGroup)
            return (
              <GroupRow
                key={name}
                name={link === undefined ? name : <Link {...link}>{name}</Link>}
                columns={columns}
                numbers={group.totals}
                before={group.previousTotals ?? undefined}
                linkOf={(filter) => linkOf(ofGroup, filter)}
              />
            )
          })}
        </tbody>
        <tfoot>
          <GroupRow
            name={t('total')}
            columns={columns}
            numbers={report.totals}
            before={previous?.totals}
            linkOf={(filter) => linkOf({}, filter)}
          />
        </tfoot>
      </Table>
      {report.groupCount > groups.length && groups.length > 0 && (
        <p>{t('moreGroups', { shown: groups.length, count: report.groupCount })}</p>
      )}
    </>
  )
}

/** What all calls of the report have in common. */
export function commonFilter({ agent, key, user }: UsageSearch): RecordFilter {
  return { agent, key, user }
}

function Head({ children }: { readonly children: string }) {
  return (
    <th scope="col" className={numeric}>
      {children}
    </th>
  )
}

function groupKey<Name extends string>(name: Name): Lowercase<Name> {
  return name.toLowerCase() as Lowercase<Name>
}
