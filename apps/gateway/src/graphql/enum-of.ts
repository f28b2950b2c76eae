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
