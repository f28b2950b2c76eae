import type { EnumRef } from '@pothos/core'
import type { Vocabulary } from '#resources/define/vocabulary.ts'
import { builder } from './builder.ts'

interface EnumTexts<Word extends string> {
  readonly description: string
  /** What each word means. */
  readonly values: Readonly<Record<Word, string>>
}

/** An enum of core's words, which GraphQL writes in capitals. */
export function enumOf<Word extends string>(
  name: string,
  words: readonly Word[],
  { description, values }: EnumTexts<Word>,
) {
  const entries = words.map((word) => [
    word.toUpperCase().replaceAll('-', '_'),
    { value: word, description: values[word] },
  ])
  return builder.enumType(name, {
    description,
    values: Object.fromEntries(entries) as Record<string, { value: Word; description: string }>,
  })
}

/** Stands for a stored word that only a newer version of the gateway on the same database knows. */
const OTHER = 'other'

/** An enum for stored words, of which a process may read some that it does not know; see {@link storedWord}. */
export function openEnumOf<Word extends string>(
  name: string,
  words: readonly Word[],
  { description, values }: EnumTexts<Word>,
) {
  const texts: EnumTexts<Word | typeof OTHER> = {
    description,
    values: {
      ...values,
      [OTHER]:
        'One that only a newer version of the gateway knows, which runs on the same database during an upgrade. Filters do not take it.',
    },
  }
  return enumOf(name, [...words, OTHER], texts)
}

/** A word that is stored, which a newer version of the gateway may have written. */
export function storedWord<Stored extends string | null | undefined>(
  { words }: Vocabulary,
  word: Stored,
): string | Extract<Stored, null | undefined> {
  if (word === null || word === undefined) return word as Extract<Stored, null | undefined>
  return words.find((known) => known === word) ?? OTHER
}

const enums = new Map<string, unknown>()

type WordsEnum<Word extends string> = EnumRef<typeof builder.$inferSchemaTypes, Word>

/** The enum of a vocabulary, which several types may have. */
export function vocabularyEnum<Word extends string>(vocabulary: Vocabulary<Word>): WordsEnum<Word> {
  const { name, description, words, meanings, isOpen } = vocabulary
  const type =
    enums.get(name) ?? (isOpen ? openEnumOf : enumOf)(name, words, { description, values: meanings })
  enums.set(name, type)
  return type as WordsEnum<Word>
}
