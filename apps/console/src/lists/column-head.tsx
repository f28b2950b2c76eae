import { ArrowDown, ArrowUp } from 'lucide-react'
import { classNames } from '../ui/class-names.ts'
import { numeric } from '../ui/table.tsx'
import type { Column } from './column.ts'
import styles from './list-table.module.css'
import { nextOrder, type Order } from './order.ts'

interface ColumnHeadProps<Row, Field extends string> {
  readonly column: Column<Row, Field>
  readonly order: Order<Field> | undefined
  readonly onOrder: ((order: Order<Field>) => void) | undefined
}

const SORT = { ASC: 'ascending', DESC: 'descending' } as const
const HEAD = { role: 'columnheader' } as const

/** The head of a column: a button where the gateway can order by it. */
export function ColumnHead<Row, Field extends string>({
  column: { head, kind, order: own },
  order,
  onOrder,
}: ColumnHeadProps<Row, Field>) {
  const className = classNames(
    kind === 'numeric' && numeric,
    kind === 'numeric' && styles.numeric,
    kind === 'actions' && styles.actions,
  )
  if (own === undefined || onOrder === undefined)
    return (
      <th scope="col" className={classNames(className, styles.plain)} {...HEAD}>
        {kind === 'actions' ? <span className="visually-hidden">{head}</span> : head}
      </th>
    )
  const direction = order?.field === own.field ? order.direction : undefined
  const Arrow = (direction ?? own.direction) === 'ASC' ? ArrowUp : ArrowDown
  return (
    <th scope="col" className={className} aria-sort={direction && SORT[direction]} {...HEAD}>
      <button
        type="button"
        className={classNames(styles.order, direction !== undefined && styles.ordered)}
        onClick={() => onOrder(nextOrder(order, own))}
      >
        {head}
        <Arrow aria-hidden />
      </button>
    </th>
  )
}
