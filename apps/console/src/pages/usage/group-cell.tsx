import { Link } from '@tanstack/react-router'
import { useTranslations } from 'use-intl'
import type { RecordsLink } from '../../charts/chart-data.ts'
import { useFormats } from '../../format/use-formats.ts'
import type { GroupNumbersFragment } from '../../generated/graphql.ts'
import { second } from '../../lists/list-table.tsx'
import { ChangeText } from '../../report/change-text.tsx'
import type { GroupColumn } from './group-columns.ts'

interface GroupCellProps {
  readonly column: GroupColumn
  readonly numbers: GroupNumbersFragment
  /** Null where nothing is known of the period before, and undefined where there is no comparison. */
  readonly before: GroupNumbersFragment | null | undefined
  /** To what is counted. */
  readonly link: RecordsLink | undefined
  /** The same for the period before. */
  readonly linkBefore: RecordsLink | undefined
}

/** A number of a group, and below it that of the period before. */
export function GroupCell({ column, numbers, before, link, linkBefore }: GroupCellProps) {
  const t = useTranslations('usage')
  const formats = useFormats()
  const { kind, read, judge } = column
  const text = (value: number | null) => {
    if (value === null) return '–'
    return kind === 'count' ? formats.count(value) : formats.about(value)
  }
  const value = read(numbers)
  const valueBefore = before == null ? null : read(before)
  const textBefore = t('beforeIs', { number: text(valueBefore) })
  return (
    <span>
      {link === undefined ? text(value) : <Link {...link}>{text(value)}</Link>}
      {before !== undefined && (
        <>
          {' '}
          <span className={second}>
            {linkBefore === undefined ? textBefore : <Link {...linkBefore}>{textBefore}</Link>}{' '}
            <ChangeText
              now={value}
              before={valueBefore}
              kind={kind}
              verdict={(before && judge?.(numbers, before)) ?? undefined}
            />
          </span>
        </>
      )}
    </span>
  )
}
