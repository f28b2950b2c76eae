import { Fragment, type MouseEvent, type ReactNode, useEffect, useRef } from 'react'
import { useTranslations } from 'use-intl'
import { useFormats } from '../format/use-formats.ts'
import { classNames } from '../ui/class-names.ts'
import { numeric, Table, time } from '../ui/table.tsx'
import type { Column } from './column.ts'
import { ColumnHead } from './column-head.tsx'
import styles from './list-table.module.css'
import type { Order } from './order.ts'

interface ListTableProps<Row, Field extends string> {
  readonly label: string
  /** The first column names the row. If it has a link, the whole row leads there. */
  readonly columns: readonly Column<Row, Field>[]
  readonly rows: readonly Row[]
  /** A row below the others that sums them up. */
  readonly total?: Row
  keyOf(row: Row): string | number
  readonly order?: Order<Field> | undefined
  onOrder?(order: Order<Field>): void
  /** The row to which a link has led. */
  isChosen?(row: Row): boolean
  /** What is shown below an open row, across all columns. */
  details?(row: Row): ReactNode
}

/** Elements that are not displayed as parts of a table would lose these roles: on a phone rows are cards. */
const ROLES = {
  table: { role: 'table' },
  group: { role: 'rowgroup' },
  row: { role: 'row' },
  rowHeader: { role: 'rowheader' },
  cell: { role: 'cell' },
} as const

/**
 * The table of a list. Where its columns do not fit, they are scrolled sideways between the first column and the buttons of the
 * row, which stay in sight; on a phone each row is a card.
 */
export function ListTable<Row, Field extends string = never>({
  label,
  columns: given,
  rows,
  total,
  keyOf,
  order,
  onOrder,
  isChosen,
  details,
}: ListTableProps<Row, Field>) {
  const t = useTranslations('lists')
  const { zoneName } = useFormats()
  const columns = given.map((column) =>
    column.kind === 'time'
      ? { ...column, head: t('inZone', { head: column.head, zone: zoneName() }) }
      : column,
  )
  return (
    <div className={styles.frame}>
      <Table label={label} className={styles.list} {...ROLES.table}>
        <thead {...ROLES.group}>
          <tr {...ROLES.row}>
            {columns.map((column) => (
              <ColumnHead key={column.head} column={column} order={order} onOrder={onOrder} />
            ))}
          </tr>
        </thead>
        <tbody {...ROLES.group}>
          {rows.map((row) => {
            const below = details?.(row) || null
            return (
              <Fragment key={keyOf(row)}>
                <ListRow row={row} columns={columns} isChosen={isChosen?.(row) === true} />
                {below !== null && (
                  <tr className={styles.details} {...ROLES.row}>
                    <td colSpan={columns.length} {...ROLES.cell}>
                      <div>{below}</div>
                    </td>
                  </tr>
                )}
              </Fragment>
            )
          })}
        </tbody>
        {total !== undefined && (
          <tfoot {...ROLES.group}>
            <ListRow row={total} columns={columns} isChosen={false} />
          </tfoot>
        )}
      </Table>
    </div>
  )
}

interface ListRowProps<Row, Field extends string> {
  readonly row: Row
  readonly columns: readonly Column<Row, Field>[]
  readonly isChosen: boolean
}

const CLASSES = { numeric, date: time, time, actions: styles.actions }

function ListRow<Row, Field extends string>({ row, columns, isChosen }: ListRowProps<Row, Field>) {
  const element = useRef<HTMLTableRowElement>(null)
  // A row that is chosen later was pressed, and is in sight.
  const isLinked = useRef(isChosen)
  useEffect(() => {
    if (isLinked.current) element.current?.scrollIntoView({ block: 'center' })
  }, [])
  const [name, ...others] = columns
  // The keyboard uses the link in the first column.
  return (
    <tr
      ref={element}
      aria-current={isChosen || undefined}
      onClick={openRow}
      onAuxClick={openRow}
      {...ROLES.row}
    >
      <th scope="row" className={classNames(name?.kind && CLASSES[name.kind])} {...ROLES.rowHeader}>
        {name?.cell(row)}
      </th>
      {others.map((column) => {
        const content = column.cell(row)
        const isNone = content === null
        return (
          <td
            key={column.head}
            className={classNames(column.kind && CLASSES[column.kind], isNone && styles.none)}
            data-label={column.kind === 'actions' ? undefined : column.head}
            // What is cut off can be read in full.
            title={typeof content === 'string' ? content : undefined}
            {...ROLES.cell}
          >
            {isNone ? '–' : content}
          </td>
        )
      })}
    </tr>
  )
}

/** A line under the first one of a cell. */
export const { second } = styles

/**
 * Follows the link in the header of a row that was clicked anywhere: in a new tab with the middle button or the keys for it, as
 * a click on the link itself does. What can be clicked by itself keeps its clicks, and text can be selected. A link that lies
 * over the whole row would take both away.
 */
function openRow(event: MouseEvent<HTMLTableRowElement>): void {
  const { target, currentTarget, button, ctrlKey, metaKey, shiftKey } = event
  if (!(target instanceof Element) || target.closest('a, button, input, select, label, summary') !== null)
    return
  const link = currentTarget.querySelector<HTMLAnchorElement>('th a')
  if (link === null || button > 1 || getSelection()?.isCollapsed === false) return
  if (button === 1 || ctrlKey || metaKey || shiftKey) window.open(link.href, '_blank', 'noopener')
  else link.click()
}
