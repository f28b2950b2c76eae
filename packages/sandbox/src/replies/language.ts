/** A language in which the emulators answer. */
export type Language = 'en' | 'zh'

export function languageOf(question: string): Language {
  return /\p{Script=Han}/u.test(question) ? 'zh' : 'en'
}
