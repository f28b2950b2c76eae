import type { Language } from '@trunkline/sandbox/src/replies/language.ts'

/** What a choice offers. */
export const OPTIONS: Readonly<Record<Language, readonly string[]>> = {
  en: ['Approve', 'Reject'],
  zh: ['同意', '拒绝'],
}
