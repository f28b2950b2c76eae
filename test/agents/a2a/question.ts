import { createHash } from 'node:crypto'
import type { Message, Part } from '@a2a-js/sdk'
import { type Faults, parseFaults } from '@trunkline/sandbox/src/replies/faults.ts'
import type { SentFile } from '@trunkline/sandbox/src/serving/list-files.ts'
import { asRecord, type JsonRecord } from '@trunkline/sandbox/src/serving/narrow.ts'

/** Words that only this agent knows, beside those of the sandbox. The README repeats this table. */
export const WORDS = {
  'a2a:message': 'Answers with one message and no task.',
  'a2a:status': 'Answers with the message of the last status, without an artifact.',
  'a2a:data': 'Answers with an artifact of one `data` part, which has the question and the variables.',
  'a2a:usage': 'Reports the tokens in the metadata of the last status, as Mastra does.',
  'a2a:rejected': 'Rejects the task, with a reason.',
  'a2a:throws': 'The program of the agent throws after half of the text.',
  'a2a:stops-short': 'The program of the agent returns after half of the text, without a last state.',
  'a2a:deaf': 'Ignores that the task is cancelled.',
  'a2a:cut-after-end':
    'Cuts the connection just before the last state; `=quiet`: ends the stream there. The task is completed.',
} as const satisfies Record<string, string>

export type Word = keyof typeof WORDS

/** The words of a query that only this agent knows. */
export interface Words {
  has(word: Word): boolean
  /** The text after `word=`; undefined without it. */
  value(word: Word): string | undefined
}

/** A message as the agent understands it. */
export interface Question {
  /** Its text, with all commands. */
  readonly query: string
  readonly faults: Faults
  readonly words: Words
  readonly files: readonly SentFile[]
  /** The fields of its `data` parts. */
  readonly data: JsonRecord
}

export function readQuestion({ parts }: Message): Question {
  const query = parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('')
  return {
    query,
    ...readCommands(query),
    files: parts.flatMap(fileOf),
    data: Object.assign({}, ...parts.map(dataOf)),
  }
}

const WORD = /(?<!\S)(a2a:[a-z-]+)(?:=(\S+))?(?!\S)\s?/g
const ECHO = /(?<!\S)sandbox:echo(?:\s|$)/

/** Reads the commands of a query. What follows `sandbox:echo` is text. */
export function readCommands(query: string): Pick<Question, 'faults' | 'words'> {
  const end = ECHO.exec(query)?.index ?? query.length
  const values = new Map<string, string | undefined>()
  const head = query.slice(0, end).replace(WORD, (whole, word: string, value: string | undefined) => {
    if (!Object.hasOwn(WORDS, word)) return whole
    values.set(word, value)
    return ''
  })
  return {
    faults: parseFaults(head + query.slice(end)),
    words: { has: (word) => values.has(word), value: (word) => values.get(word) },
  }
}

function fileOf({ content, filename, mediaType }: Part): readonly SentFile[] {
  switch (content?.$case) {
    case 'url':
      return [{ url: content.value, name: filename }]
    case 'raw': {
      const sha256 = createHash('sha256').update(content.value).digest('hex')
      return [{ name: filename || mediaType, size: content.value.length, sha256 }]
    }
    default:
      return []
  }
}

function dataOf({ content }: Part): JsonRecord {
  return content?.$case === 'data' ? asRecord(content.value) : {}
}
