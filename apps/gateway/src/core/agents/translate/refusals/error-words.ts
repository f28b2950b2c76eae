import { isObject, type JsonObject, parseJson } from '#core/base/values/json.ts'

/** What an error says of itself, the innermost first: proxies wrap the errors of those behind them. */
export interface ErrorWords {
  /** Codes, types and statuses; numbers as text. */
  readonly codes: readonly string[]
  readonly texts: readonly string[]
  /** The errors themselves. */
  readonly objects: readonly JsonObject[]
}

const CODE_KEYS = [
  'code',
  'type',
  'status',
  'reason',
  'error_code',
  'errorCode',
  'error_type',
  'Code',
  'status_code',
]
/**
 * Where texts and further errors stand. Others are not read: servers echo what they were sent, as `input` or in the like, and a
 * caller's own words must not pass for the server's.
 */
const TEXT_KEYS = [
  'message',
  'msg',
  'detail',
  'details',
  'error',
  'errors',
  'error_msg',
  'error_message',
  'errorMessage',
  'error_description',
  'Message',
  'status_msg',
  'title',
  'innererror',
  'inner_error',
  'metadata',
  'raw',
  'base_resp',
]
const DEPTH_MAX = 8
const WORDS_MAX = 64
const TEXT_CHARACTERS_MAX = 2_000
const CODE_CHARACTERS_MAX = 200

/** Reads an error in whatever shape: an object, a text, a list of them, nested, or as JSON within a text. Never throws. */
export function errorWords(error: unknown): ErrorWords {
  const codes: string[] = []
  const texts: string[] = []
  const objects: JsonObject[] = []
  const visit = (value: unknown, depth: number): void => {
    if (depth > DEPTH_MAX || texts.length + objects.length >= WORDS_MAX) return
    if (typeof value === 'string') {
      if (value === '') return
      texts.push(value.slice(0, TEXT_CHARACTERS_MAX).trim())
      visit(jsonIn(value), depth + 1)
    } else if (Array.isArray(value)) {
      for (const item of value.slice(0, WORDS_MAX)) visit(item, depth + 1)
    } else if (isObject(value)) {
      objects.push(value)
      for (const key of CODE_KEYS) {
        const code = value[key]
        if (typeof code === 'number' || (typeof code === 'string' && code !== ''))
          codes.push(String(code).slice(0, CODE_CHARACTERS_MAX))
      }
      for (const key of TEXT_KEYS) visit(value[key], depth + 1)
    }
  }
  visit(error, 0)
  return { codes: codes.toReversed(), texts: texts.toReversed(), objects: objects.toReversed() }
}

/** The message of an error: its first text, with the field if a validator names one. */
export function messageIn(error: unknown): string | undefined {
  const { texts, objects } = errorWords(error)
  const mistake = objects.findLast(({ loc }) => Array.isArray(loc))
  if (!Array.isArray(mistake?.loc) || typeof mistake.msg !== 'string') return texts.at(-1)
  return `${mistake.loc
    .filter((step) => step !== 'body')
    .map(stepOf)
    .join('.')}: ${mistake.msg}`.slice(0, TEXT_CHARACTERS_MAX)
}

function stepOf(step: unknown): string {
  return typeof step === 'string' || typeof step === 'number' ? String(step) : '?'
}

/** The error of another server that a text carries, also behind words of its own. */
function jsonIn(text: string): unknown {
  const begin = text.indexOf('{')
  return begin === -1 ? undefined : parseJson(text.slice(begin, text.lastIndexOf('}') + 1))
}
