import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { RecordFilter, RecordsLink } from '../../charts/chart-data.ts'
import { useFormats } from '../../format/use-formats.ts'
import type { GroupNumbersFragment } from '../../generated/graphql.ts'
import { ChangeText } from '../../report/change-text.tsx'
import { numeric } from '../../ui/table.tsx'
import type { GroupColumn } from './group-columns.ts'

interface GroupRowProps {
  readonly name: ReactNode
  readonly columns: readonly GroupColumn[]
  readonly numbers: GroupNumbersFragment
  readonly before: GroupNumbersFragment | undefined
  linkOf(filter: RecordFilter): RecordsLink | undefined
}

/** The numbers of a group, beside those of the period before where they are compared. */
export function GroupRow({ name, columns, numbers, before, linkOf }: GroupRowProps) {
  const formats = useFormats()
  const text = (value: number | null | undefined, { kind }: GroupColumn) => {
    if (value === null || value === undefined) return '–'
    return kind === 'count' ? formats.count(value) : formats.about(value)
  }
  return (
    <tr>
      <th scope="row">{name}</th>
      {columns.flatMap((column) => {
        const value = column.read(numbers)
        const valueBefore = before === undefined ? null : column.read(before)
        const filter = value === null || value === 0 ? undefined : column.filter?.(value)
        const link = filter && linkOf(filter)
        const { name: key, kind, judge } = column
        return [
          <td key={key} className={numeric}>
            {link === undefined ? text(value, column) : <Link {...link}>{text(value, column)}</Link>}
          </td>,
          column.isCompared === true && (
            <td key={`${key} before`} className={numeric}>
              {text(valueBefore, column)}
            </td>
          ),
          column.isCompared === true && (
            <td key={`${key} change`} className={numeric}>
              <ChangeText
                now={value}
                before={valueBefore}
                kind={kind}
                verdict={before && judge?.(numbers, before)}
              />
            </td>
          ),
        ]
      })}
    </tr>
  )
}
