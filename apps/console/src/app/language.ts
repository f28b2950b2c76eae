import type { PageMessages, StartMessages } from '../../messages/en.ts'
import { loadPart } from '../ui/load-part.ts'

export const LANGUAGES = { en: 'English', zh: '中文' } as const
export type Language = keyof typeof LANGUAGES

const STORED_AS = 'trunkline.language'

/** The language that was chosen in the menu, or else the first of the browser's languages that there are messages for. */
export function chosenLanguage(): Language {
  const wanted = [localStorage.getItem(STORED_AS) ?? '', ...navigator.languages]
  const found = wanted.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => tag in LANGUAGES)
  return (found as Language | undefined) ?? 'en'
}

/** The region whose numbers, dates and clock are used: the first of the browser's for the language, if it has one. */
export function localeOf(language: Language, wanted = navigator.languages): string {
  return wanted.find((tag) => tag.toLowerCase().startsWith(`${language}-`)) ?? language
}

export function chooseLanguage(language: Language): void {
  localStorage.setItem(STORED_AS, language)
}

/** Only the messages of one language are loaded, at first those of the login, the overview and what is around every page. */
export async function loadMessages(language: Language): Promise<StartMessages> {
  const { messages } = await loadPart(() =>
    language === 'zh' ? import('../../messages/zh-start.ts') : import('../../messages/en-start.ts'),
  )
  return messages
}

/** Loads the messages of all other pages. */
export async function loadPageMessages(language: Language): Promise<PageMessages> {
  const { messages } = await loadPart(() =>
    language === 'zh' ? import('../../messages/zh-pages.ts') : import('../../messages/en-pages.ts'),
  )
  return messages
}
