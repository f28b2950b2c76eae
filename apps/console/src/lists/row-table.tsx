import { FIELDS } from '../generated/fields.ts'
import type { Column } from './column.ts'
import { cellOf, type FieldsOf, fieldOf } from './field.tsx'
import { ListTable, type ListTableProps } from './list-table.tsx'
import { type ListName, useListTexts } from './use-list-texts.ts'

/** What a page says of a column: its cell, or in what the column differs from the usual one of the field with its name. */
type OwnColumn<Row, Order extends string> = Column<Row, Order>['cell'] | Partial<Column<Row, Order>>

interface RowTableProps<Of extends ListName, Row, Order extends string>
  extends Omit<ListTableProps<Row, Order>, 'label' | 'name' | 'columns'> {
  readonly of: Of
  /** That of the rows of one user. */
  readonly label?: string | undefined
  /** The columns that are shown, or can be, in their order. */
  readonly columns: Readonly<Record<string, OwnColumn<Row, Order>>>
  /** Fields that these columns show as well. Every other one has a column that is shown if it is chosen. */
  readonly within: readonly (keyof FieldsOf<Of>)[]
}

/** The table of a list, with a column for each field of its rows. */
export function RowTable<Of extends ListName, Row extends object, Order extends string = never>({
  of,
  label,
  columns,
  within,
  ...table
}: RowTableProps<Of, Row, Order>) {
  const { text, nameOf, wordOf } = useListTexts(of)
  const isOther = (name: string) => !(name in columns) && !within.some((shown) => shown === name)
  const columnOf = (name: string, own: OwnColumn<Row, Order>): [string, Column<Row, Order>] => {
    const { kind, field } = fieldOf(of, name)
    const usual = {
      head: nameOf(name),
      ...((kind === 'number' || kind === 'duration') && { kind: 'numeric' as const }),
      ...(kind === 'time' && { kind }),
      cell: (row: Row) => cellOf(kind, row[field as keyof Row], (word) => wordOf(name, word)),
    }
    return [name, { ...usual, ...(typeof own === 'function' ? { cell: own } : own) }]
  }
  const own = Object.entries(columns).map(([name, column]) => columnOf(name, column))
  const others = Object.keys(FIELDS[of]).filter(isOther)
  const isLast = ([, { kind }]: [string, Column<Row, Order>]) => kind === 'actions'
  const all = [
    ...own.filter((column) => !isLast(column)),
    ...others.map((name) => columnOf(name, { isExtra: true })),
    ...own.filter(isLast),
  ]
  return (
    <ListTable
      label={label ?? text(text.has('list') ? 'list' : 'title')}
      name={of}
      columns={Object.fromEntries(all)}
      {...table}
    />
  )
}
