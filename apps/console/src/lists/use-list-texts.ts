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
  const sources = [own, filters, ofCalls]
  return {
    text: own,
    /** What a field or a condition is called. */
    nameOf: (name: string) => textNamed(name, sources) ?? humanized(name),
    /** What one of the words of a field or a condition is called. */
    wordOf: (name: string, word: string) => textNamed(`${name}s.${word}`, sources) ?? humanized(word),
  }
}

/** The first text with a name. A group of texts, and a text for values, are none. */
export function textNamed(name: string, sources: readonly Texts[]): string | undefined {
  const isText = (text: unknown) => typeof text === 'string' && !text.includes('{')
  return sources.find((texts) => texts.has(name) && isText(texts.raw(name)))?.(name)
}

/** What is called by its own name, as it has no text yet: `lastOutcome` as "Last outcome", and `CLIENT_GONE` as "Client gone". */
export function humanized(name: string): string {
  const words = name.replaceAll('_', ' ').replace(/(?<=[a-z\d])[A-Z]/g, (letter) => ` ${letter}`)
  return `${words.charAt(0).toUpperCase()}${words.slice(1).toLowerCase()}`
}
