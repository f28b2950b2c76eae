import type { ReactNode } from 'react'
import { useFormats } from '../format/use-formats.ts'
import { CodeWithCopy } from '../ui/copy/code-with-copy.tsx'
import { Facts } from '../ui/facts.tsx'
import { cellOf, type FieldsOf, fieldOf } from './field.tsx'
import { RecordLink } from './record-link.tsx'
import { type ListName, useListTexts } from './use-list-texts.ts'

interface RowFactsProps<Of extends ListName> {
  readonly of: Of
  readonly row: object
  /** Fields that are shown in the usual way, and names with values of their own. */
  readonly facts: readonly (keyof FieldsOf<Of> | readonly [name: string, value: ReactNode])[]
}

/** What is known of a row, on its own page. */
export function RowFacts<Of extends ListName>({ of, row, facts }: RowFactsProps<Of>) {
  const { nameOf, wordOf } = useListTexts(of)
  const { moment } = useFormats()
  const values = row as Readonly<Record<string, unknown>>
  const shownOf = (name: string): ReactNode => {
    const { kind, field } = fieldOf(of, name)
    const value = values[field]
    if (value === null || value === undefined || value === '') return null
    switch (kind) {
      case 'id':
        return <CodeWithCopy key={name} text={String(value)} />
      case 'time':
        return moment(String(value))
      case 'user':
      case 'key':
      case 'agent':
      case 'call': {
        const object = values[name] as
          | { readonly name?: string; readonly username?: string }
          | null
          | undefined
        return (
          <RecordLink key={name} kind={kind} id={String(value)} name={object?.username ?? object?.name} />
        )
      }
      default:
        return cellOf(kind, value, (word) => wordOf(name, word))
    }
  }
  const shown = facts.map((fact): readonly [string, ReactNode] =>
    typeof fact === 'object' ? fact : [nameOf(String(fact)), shownOf(String(fact))],
  )
  return <Facts facts={shown} />
}
