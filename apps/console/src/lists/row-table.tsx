import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl'
import { useNames } from '../filters/use-names.ts'
import { Moment } from '../format/moment.tsx'
import { useFormats } from '../format/use-formats.ts'
import type { Column } from './column.ts'
import { ListTable, type ListTableProps } from './list-table.tsx'
import { type ListName, useListTexts } from './use-list-texts.ts'

/** A field of the rows of a list, as `generated/fields.ts` has it. */
interface Field {
  readonly kind: 'id' | 'text' | 'texts' | 'words' | 'number' | 'time' | 'flag' | 'user' | 'key' | 'agent'
  /** Its name in GraphQL. */
  readonly field: string
}

/** What a page says of a column: its cell, or in what the column differs from the usual one of the field with its name. */
type OwnColumn<Row, Order extends string> = Column<Row, Order>['cell'] | Partial<Column<Row, Order>>

interface RowTableProps<Row, Fields, Order extends string>
  extends Omit<ListTableProps<Row, Order>, 'label' | 'name' | 'columns'> {
  readonly of: ListName
  /** That of the rows of one user. */
  readonly label?: string | undefined
  readonly fields: Fields
  /** The columns that are shown, or can be, in their order. */
  readonly columns: Readonly<Record<string, OwnColumn<Row, Order>>>
  /** Fields that these columns show as well. Every other one has a column that is shown if it is chosen. */
  readonly within: readonly (keyof Fields)[]
}

/** The table of a list, with a column for each field of its rows. */
export function RowTable<
  Row extends object,
  const Fields extends Readonly<Record<string, Field>>,
  Order extends string = never,
>({ of, label, fields, columns, within, ...table }: RowTableProps<Row, Fields, Order>) {
  const { text, nameOf, wordOf } = useListTexts(of)
  const isOther = (name: string) => !(name in columns) && !within.includes(name)
  const columnOf = (name: string, own: OwnColumn<Row, Order>): [string, Column<Row, Order>] => {
    const { kind = 'text', field = name } = fields[name] ?? {}
    const usual = {
      head: nameOf(name),
      ...(kind === 'number' && { kind: 'numeric' as const }),
      ...(kind === 'time' && { kind }),
      cell: (row: Row) => cellOf(kind, row[field as keyof Row], (word) => wordOf(name, word)),
    }
    return [name, { ...usual, ...(typeof own === 'function' ? { cell: own } : own) }]
  }
  const own = Object.entries(columns).map(([name, column]) => columnOf(name, column))
  const others = Object.keys(fields).filter(isOther)
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

/** The usual cell of a field. */
function cellOf(kind: Field['kind'], value: unknown, wordOf: (word: string) => string): ReactNode {
  if (value === null || value === undefined || value === '') return null
  switch (kind) {
    case 'time':
      return <Moment at={String(value)} />
    case 'number':
      return <Count value={Number(value)} />
    case 'flag':
      return <Flag value={value === true} />
    case 'id':
      return <code>{String(value)}</code>
    case 'words':
      return wordOf(String(value))
    case 'texts':
      return (value as readonly string[]).join(', ')
    case 'user':
    case 'key':
    case 'agent':
      return <Named kind={kind} id={String(value)} />
    default:
      return String(value)
  }
}

function Count({ value }: { readonly value: number }) {
  return useFormats().count(value)
}

function Flag({ value }: { readonly value: boolean }) {
  return useTranslations('lists')(`${value}`)
}

/** What is chosen from for filters has the name, so that no row is joined with it. */
function Named({ kind, id }: { readonly kind: 'user' | 'key' | 'agent'; readonly id: string }) {
  return useNames([kind])[kind](id)
}
