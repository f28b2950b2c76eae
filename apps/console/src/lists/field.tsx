import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl'
import { useNames } from '../filters/use-names.ts'
import { Moment } from '../format/moment.tsx'
import { useFormats } from '../format/use-formats.ts'
import { FIELDS } from '../generated/fields.ts'
import type { ListName } from './use-list-texts.ts'

/** The fields of the rows of a list, by the contract. */
export type FieldsOf<Of extends ListName> = (typeof FIELDS)[Of]

type Kind =
  | 'duration'
  | 'id'
  | 'text'
  | 'texts'
  | 'words'
  | 'number'
  | 'time'
  | 'flag'
  | 'user'
  | 'key'
  | 'agent'
  | 'call'

interface Field {
  readonly kind: Kind
  /** Its name in GraphQL. */
  readonly field: string
}

/** The field of a row with this name; a text for what a page has made up. */
export function fieldOf(of: ListName, name: string): Field {
  const fields: Readonly<Record<string, Field>> = FIELDS[of]
  return fields[name] ?? { kind: 'text', field: name }
}

/** The usual cell of a field. */
export function cellOf(kind: Kind, value: unknown, wordOf: (word: string) => string): ReactNode {
  if (value === null || value === undefined || value === '') return null
  switch (kind) {
    case 'time':
      return <Moment at={String(value)} />
    case 'number':
    case 'duration':
      return <Amount value={Number(value)} as={kind === 'number' ? 'count' : kind} />
    case 'flag':
      return <Flag value={value === true} />
    case 'id':
    case 'call':
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

function Amount({ value, as }: { readonly value: number; readonly as: 'count' | 'duration' }) {
  return useFormats()[as](value)
}

function Flag({ value }: { readonly value: boolean }) {
  return useTranslations('lists')(`${value}`)
}

/** What is chosen from for filters has the name, so that no row is joined with it. */
function Named({ kind, id }: { readonly kind: 'user' | 'key' | 'agent'; readonly id: string }) {
  return useNames([kind])(kind, id)
}
