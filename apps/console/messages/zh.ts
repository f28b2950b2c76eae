import type { Messages } from './en.ts'
import { messages as pages } from './zh-pages.ts'
import { messages as start } from './zh-start.ts'

export const messages: Messages = { ...start, ...pages }
