import { Columns3 } from 'lucide-react'
import { Fragment, type MouseEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { useTranslations } from 'use-intl'
import { useFormats } from '../format/use-formats.ts'
import { classNames } from '../ui/class-names.ts'
import { ChoiceMenu } from '../ui/overlays/menu.tsx'
import { numeric, Table, time } from '../ui/table.tsx'
import { type Column, type Columns, isChoosable, isShown, turn } from './column.ts'
import { ColumnHead } from './column-head.tsx'
import styles from './list-table.module.css'
import type { Order } from './order.ts'
import { useRemembered } from './remembered.ts'
import { type Run, runs } from './runs.ts'

export interface ListTableProps<Row, Field extends string> {
  readonly label: string
  /** Under which the browser remembers the columns that were chosen; without it they cannot be. */
  readonly name?: string
  /** The first column names the row. If it has a link, the whole row leads there. */
  readonly columns: Columns<Row, Field>
  readonly rows: readonly Row[]
  /** A row below the others that sums them up. */
  readonly total?: Row
  keyOf(row: Row): string | number
  readonly order?: Order<Field> | undefined
  onOrder?(order: Order<Field>): void
  /** The row to which a link has led. */
  isChosen?(row: Row): boolean
  /** The time by which the rows are ordered, the latest first: each day has a heading. */
  timeOf?(row: Row): string
  /** Rows of a day that follow each other and are alike in this are one row, which can be opened. */
  sameIn?(row: Row): string
  /** What is shown below an open row, across all columns; nothing for the others. */
  details?(row: Row): ReactNode
}

/** Elements that are not displayed as parts of a table would lose these roles: on a phone they are not. */
const ROLES = {
  table: { role: 'table' },
  group: { role: 'rowgroup' },
  row: { role: 'row' },
  rowHeader: { role: 'rowheader' },
  cell: { role: 'cell' },
} as const

/**
 * The table of a list. Where its columns do not fit, they are scrolled sideways between the first column and the buttons of the
 * row, which stay in sight; on a phone a row has two lines, with as many of its columns as have room there.
 */
export function ListTable<Row, Field extends string = never>(props: ListTableProps<Row, Field>) {
  const { label, name, rows, total, keyOf, order, onOrder, timeOf, sameIn = keyOf } = props
  const t = useTranslations('lists')
  const { day, zoneName } = useFormats()
  const [turned, turnColumns] = useRemembered(`columns.${name}`)
  const all = Object.entries<Column<Row, Field>>(props.columns)
  const shown = all.filter((column, place) => isShown(column, place, turned))
  const columns = shown.map(([, column]) => column)
  const dayOf = (row: Row) => timeOf && day(timeOf(row))
  return (
    <div className={styles.frame}>
      {name !== undefined && (
        <ChoiceMenu
          label={t('columns')}
          icon={<Columns3 aria-hidden />}
          className={styles.columns}
          options={all.filter(isChoosable).map(([value, { head }]) => ({ value, label: head }))}
          chosen={shown.map(([id]) => id)}
          onChoose={(id) => turnColumns(turn(id, turned))}
        />
      )}
      <Table label={label} className={classNames(styles.list, name && styles.cut)} {...ROLES.table}>
        <thead {...ROLES.group}>
          <tr {...ROLES.row}>
            {columns.map((column) => (
              <ColumnHead key={column.head} column={column} order={order} onOrder={onOrder} />
            ))}
          </tr>
        </thead>
        {runs(rows, dayOf).map((ofDay) => (
          <tbody key={keyOf(ofDay[0])} {...ROLES.group}>
            {timeOf && (
              <tr className={styles.day} {...ROLES.row}>
                <th scope="rowgroup" colSpan={columns.length} {...ROLES.rowHeader}>
                  {dayOf(ofDay[0])} <span>{zoneName(timeOf(ofDay[0]))}</span>
                </th>
              </tr>
            )}
            {runs(ofDay, sameIn).map((run) => (
              <RowsOfRun key={keyOf(run[0])} {...props} run={run} columns={columns} />
            ))}
          </tbody>
        ))}
        {total !== undefined && (
          <tfoot {...ROLES.group}>
            <ListRow row={total} columns={columns} isChosen={false} />
          </tfoot>
        )}
      </Table>
    </div>
  )
}

interface RowsOfRunProps<Row, Field extends string>
  extends Pick<ListTableProps<Row, Field>, 'keyOf' | 'isChosen' | 'timeOf' | 'details'> {
  readonly columns: readonly Column<Row, Field>[]
  readonly run: Run<Row>
}

/** Rows that are alike: the first, which says how many there are, and on request the others. */
function RowsOfRun<Row, Field extends string>(props: RowsOfRunProps<Row, Field>) {
  const { run, columns, keyOf, isChosen, timeOf, details } = props
  const t = useTranslations('lists')
  const { time: clock } = useFormats()
  const [isOpen, setOpen] = useState(false)
  const [first] = run
  const last = run.at(-1) ?? first
  const count = run.length > 1 && (
    <button
      type="button"
      className={styles.count}
      aria-expanded={isOpen}
      onClick={() => setOpen((wasOpen) => !wasOpen)}
    >
      {t('alike', { count: run.length, since: timeOf ? clock(timeOf(last)) : '' })}
    </button>
  )
  return (isOpen ? run : [first]).map((row) => {
    const below = details?.(row) || null
    return (
      <Fragment key={keyOf(row)}>
        <ListRow row={row} columns={columns} isChosen={isChosen?.(row) === true}>
          {row === first && count}
        </ListRow>
        {below !== null && (
          <tr className={styles.details} {...ROLES.row}>
            <td colSpan={columns.length} {...ROLES.cell}>
              <div>{below}</div>
            </td>
          </tr>
        )}
      </Fragment>
    )
  })
}

interface ListRowProps<Row, Field extends string> {
  readonly row: Row
  readonly columns: readonly Column<Row, Field>[]
  readonly isChosen: boolean
  /** Below the name of the row. */
  readonly children?: ReactNode
}

const CLASSES = { numeric, time, state: styles.state, actions: styles.actions }

function ListRow<Row, Field extends string>({ row, columns, isChosen, children }: ListRowProps<Row, Field>) {
  const element = useRef<HTMLTableRowElement>(null)
  useEffect(() => {
    if (isChosen) element.current?.scrollIntoView({ block: 'center' })
  }, [isChosen])
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
        {children}
      </th>
      {others.map(({ head, kind, cell }) => {
        const content = cell(row)
        const isNone = content === null
        return (
          <td
            key={head}
            className={classNames(kind && CLASSES[kind], isNone && styles.none)}
            // A number or a time alone does not say what it is.
            data-label={kind === 'numeric' || kind === 'time' ? head : undefined}
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
