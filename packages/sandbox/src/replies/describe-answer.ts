import type { JsonRecord } from '../serving/narrow.ts'
import type { Language } from './language.ts'

/** What a pause was answered with. */
interface PauseAnswer {
  /** The title of the option or action. */
  readonly chosen?: string
  /** A text in the user's own words. */
  readonly said?: string
  readonly fields?: JsonRecord
}

/** Says what a pause was answered with, so that tests see what has reached the platform. Ends with an empty line. */
export function describeAnswer(language: Language, { chosen, said, fields = {} }: PauseAnswer): string {
  const words = WORDS[language]
  const filled = Object.entries(fields).map(([name, value]) => `- ${name}: ${textOf(value)}`)
  const lines = [
    ...(chosen === undefined ? [] : [words.chosen(chosen)]),
    ...(said === undefined ? [] : [words.said(said)]),
    ...(filled.length > 0 ? [words.filled, ...filled] : []),
  ]
  return `${lines.join('\n')}\n\n`
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

interface Words {
  chosen(title: string): string
  said(text: string): string
  readonly filled: string
}

const WORDS: Readonly<Record<Language, Words>> = {
  en: {
    chosen: (title) => `You chose “${title}”.`,
    said: (text) => `You answered “${text}”.`,
    filled: 'You filled in:',
  },
  zh: {
    chosen: (title) => `你选择了“${title}”。`,
    said: (text) => `你回答了“${text}”。`,
    filled: '你填写了：',
  },
}
