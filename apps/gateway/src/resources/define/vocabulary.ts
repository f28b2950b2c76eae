/** The words of an enum, and what each means. */
export interface Vocabulary<Word extends string = string> {
  /** The name of the enum in GraphQL. */
  readonly name: string
  readonly description: string
  readonly words: readonly Word[]
  readonly meanings: Readonly<Record<Word, string>>
  /** Whether a newer version of the gateway on the same database may have stored another word. */
  readonly isOpen: boolean
}

/** Words that only this version writes. */
export function closed<Word extends string>(
  name: string,
  words: readonly Word[],
  description: string,
  meanings: Readonly<Record<Word, string>>,
): Vocabulary<Word> {
  return { name, description, words, meanings, isOpen: false }
}

/** Words that are stored, of which a process may read some that it does not know. */
export function open<Word extends string>(
  name: string,
  words: readonly Word[],
  description: string,
  meanings: Readonly<Record<Word, string>>,
): Vocabulary<string> {
  return { name, description, words, meanings, isOpen: true }
}

/** The description of a field with the meaning of each word. */
export function meaningsOf({ words, meanings }: Vocabulary, description: string): string {
  const each = words.map((word) => `\`${word}\`: ${uncapitalized(meanings[word] ?? '')}`)
  return [description, ...each].join(' ')
}

/** Names such as OpenAI stay as they are. */
function uncapitalized(sentence: string): string {
  return sentence.replace(/^[A-Z](?![a-z]*[A-Z])/, (letter) => letter.toLowerCase())
}
