import type { Messages } from '../../messages/en.ts'
import type { Language } from './language.ts'

declare module 'use-intl' {
  // Makes a key without a message a type error.
  interface AppConfig {
    Locale: Language
    Messages: Messages
  }
}
