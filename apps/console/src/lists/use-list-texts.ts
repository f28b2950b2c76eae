import { useTranslations } from 'use-intl'

/** The lists that have texts of their own. */
export type ListName = 'audit' | 'calls' | 'conversations' | 'keys' | 'processes' | 'refusals' | 'users'

/** Texts under names that are known only at run time. */
interface Texts {
  (name: string, values?: Readonly<Record<string, string | number>>): string
  has(name: string): boolean
  raw(name: string): unknown
}

/** The texts of a list, and what its fields, conditions and words are called. */
export function useListTexts(of: ListName) {
  const own = useTranslations(of) as unknown as Texts
  const filters = useTranslations('filters') as unknown as Texts
  // Other lists have many fields of calls as well.
  const ofCalls = useTranslations('calls.call') as unknown as Texts
  const find = (name: string) =>
    [own, filters, ofCalls].find((texts) => texts.has(name) && typeof texts.raw(name) === 'string')?.(name)
  return {
    text: own,
    /** What a field or a condition is called; one without a text as its name says it. */
    nameOf: (name: string) => find(name) ?? humanized(name),
    /** What one of the words of a field or a condition is called. */
    wordOf: (name: string, word: string) => find(`${name}s.${word}`) ?? humanized(word),
  }
}

/** `lastOutcome` as "Last outcome", and `CLIENT_GONE` as "Client gone". */
export function humanized(name: string): string {
  const words = name.replaceAll('_', ' ').replace(/(?<=[a-z\d])[A-Z]/g, (letter) => ` ${letter}`)
  return `${words.charAt(0).toUpperCase()}${words.slice(1).toLowerCase()}`
}
