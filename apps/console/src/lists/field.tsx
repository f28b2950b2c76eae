import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl'
import { useNames } from '../filters/use-names.ts'
import { Moment } from '../format/moment.tsx'
import { useFormats } from '../format/use-formats.ts'

/** A field of the rows of a list, as `generated/fields.ts` has it. */
export interface Field {
  readonly kind: 'id' | 'text' | 'texts' | 'words' | 'number' | 'time' | 'flag' | 'user' | 'key' | 'agent'
  /** Its name in GraphQL. */
  readonly field: string
}

/** The usual cell of a field. */
export function cellOf(kind: Field['kind'], value: unknown, wordOf: (word: string) => string): ReactNode {
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
  return useNames([kind])(kind, id)
}
