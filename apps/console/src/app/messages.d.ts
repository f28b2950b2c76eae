import type { Messages } from '../../messages/en.ts'

declare module 'use-intl' {
  // Makes a key without a message a type error.
  interface AppConfig {
    Messages: Messages
  }
}
