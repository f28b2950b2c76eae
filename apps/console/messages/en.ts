import { messages as pages } from './en-pages.ts'
import { messages as start } from './en-start.ts'

/** Every English text, by page. The other languages have the same keys. */
export const messages = { ...start, ...pages }

export type StartMessages = typeof start
export type PageMessages = typeof pages
export type Messages = StartMessages & PageMessages
