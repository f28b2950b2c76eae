import type { ReactNode } from 'react'
import type { Order } from './order.ts'

export interface Column<Row, Field extends string = never> {
  readonly head: string
  /** A state is beside the name of its row on a phone. */
  readonly kind?: 'numeric' | 'time' | 'state' | 'actions'
  /** Shown only if it is chosen. */
  readonly isExtra?: boolean
  /** How the gateway orders the rows at the first press on the head; without it they cannot be ordered by this column. */
  readonly order?: Order<Field>
  /** Null where there is nothing to show. */
  cell(row: Row): ReactNode
}

/** The names are those under which the browser remembers which columns are shown. */
export type Columns<Row, Field extends string = never> =
  | Readonly<Record<string, Column<Row, Field>>>
  | readonly Column<Row, Field>[]

type Choosable = readonly [name: string, column: Pick<Column<never>, 'kind' | 'isExtra'>]

/** The name of the row and its buttons are always shown. */
export function isChoosable([, { kind }]: Choosable, place: number): boolean {
  return place > 0 && kind !== 'actions'
}

/** Whether a column is shown, with the names of those that were turned on or off. */
export function isShown(column: Choosable, place: number, turned: string): boolean {
  const [name, { isExtra = false }] = column
  return !isChoosable(column, place) || turned.split(' ').includes(name) === isExtra
}

/** What is remembered after a column was turned on or off. */
export function turn(name: string, turned: string): string {
  const names = turned.split(' ').filter((other) => other !== '')
  return (names.includes(name) ? names.filter((other) => other !== name) : [...names, name]).join(' ')
}
