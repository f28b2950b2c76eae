import { createContext } from 'react'
import type { Language } from './language.ts'

interface LanguageChoice {
  readonly language: Language
  choose(language: Language): Promise<void>
}

export const LanguageContext = createContext<LanguageChoice>({ language: 'en', async choose() {} })
