import type { ReactNode } from 'react'
import type { Order } from './order.ts'

export interface Column<Row, Field extends string = never> {
  readonly head: string
  /** The head of a column with times also names their zone. */
  readonly kind?: 'numeric' | 'date' | 'time' | 'actions'
  /** How the gateway orders the rows at the first press on the head; without it they cannot be ordered by this column. */
  readonly order?: Order<Field>
  /** Null where there is nothing to show, which takes no line of a card. */
  cell(row: Row): ReactNode
}
