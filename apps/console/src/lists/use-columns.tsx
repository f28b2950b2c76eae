import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl'
import { useNames } from '../filters/use-names.ts'
import { Moment } from '../format/moment.tsx'
import { useFormats } from '../format/use-formats.ts'
import type { Column, Columns } from './column.ts'
import { type ListName, useListTexts } from './use-list-texts.ts'

/** A field of the rows of a list, as `generated/fields.ts` has it. */
interface Field {
  readonly kind: 'id' | 'text' | 'texts' | 'words' | 'number' | 'time' | 'flag' | 'user' | 'key' | 'agent'
  /** Its name in GraphQL. */
  readonly field: string
}

/** Columns that a page draws in its own way. */
export type Drawn<Row, Order extends string = never> = Readonly<Record<string, Column<Row, Order>>>

/**
 * The columns of a list: those that its page draws and, shown only if they are chosen, one for each other field of its rows.
 *
 * @param drawn - also by their names what replaces the column of a field
 * @param within - fields that these columns show as well
 */
export function useColumns<
  Row extends object,
  const Fields extends Readonly<Record<string, Field>>,
  Order extends string = never,
>(
  of: ListName,
  fields: Fields,
  drawn: Drawn<Row, Order>,
  within: readonly (keyof Fields)[],
): Columns<Row, Order> {
  const { nameOf, wordOf } = useListTexts(of)
  const others = Object.entries(fields).filter(([name]) => !(name in drawn) && !within.includes(name))
  const extra = others.map(([name, { kind, field }]): [string, Column<Row, Order>] => [
    name,
    {
      isExtra: true,
      head: nameOf(name),
      ...(kind === 'number' && { kind: 'numeric' }),
      ...(kind === 'time' && { kind }),
      cell: (row) => {
        const value = row[field as keyof Row]
        return kind === 'words' && value !== null ? wordOf(name, String(value)) : shown(kind, value)
      },
    },
  ])
  const isLast = ([, { kind }]: [string, Column<Row, Order>]) => kind === 'actions'
  const own = Object.entries(drawn)
  return Object.fromEntries([...own.filter((column) => !isLast(column)), ...extra, ...own.filter(isLast)])
}

/** The usual cell of a field. */
function shown(kind: Field['kind'], value: unknown): ReactNode {
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
