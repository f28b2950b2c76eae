import { useTranslations } from 'use-intl'
import type { RecordsLink } from '../../charts/chart-data.ts'
import { Way } from '../../charts/count.tsx'
import { useFormats } from '../../format/use-formats.ts'
import type { NumbersFragment } from '../../generated/graphql.ts'
import { second } from '../../lists/list-table.tsx'
import { ChangeText } from '../../report/change-text.tsx'
import type { GroupColumn } from './group-columns.ts'

interface GroupCellProps {
  readonly column: GroupColumn
  readonly numbers: NumbersFragment
  /** Null where nothing is known of the period before, and undefined where there is no comparison. */
  readonly before: NumbersFragment | null | undefined
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
  return (
    <span>
      <Way link={link}>{text(value)}</Way>
      {before !== undefined && (
        <>
          {' '}
          <span className={second}>
            <Way link={linkBefore}>{t('beforeIs', { number: text(valueBefore) })}</Way>{' '}
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
