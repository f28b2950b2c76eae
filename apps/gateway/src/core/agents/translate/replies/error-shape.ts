import { isObject, type JsonObject, objectOf, textOf } from '#core/base/values/json.ts'

const MESSAGES = [
  'message',
  'msg',
  'detail',
  'error_msg',
  'error_message',
  'errorMessage',
  'Message',
  'status_msg',
]
const CODES = ['code', 'error_code', 'errorCode', 'Code', 'status_code']

/** Codes that say that there was no error. */
const SUCCESS: ReadonlySet<unknown> = new Set([0, 200, '0', '200', 'ok', 'OK', 'success', 'Success'])

/** Texts under `error` that say, beside an answer, that there was none. */
const NO_ERROR = /^(?:null|none|nil|ok|success|no error)$/i

/** Fields in which servers say of every reply whether it has succeeded: MiniMax, iFlytek Spark. */
const OUTCOMES = ['base_resp', 'header']
/** Objects around an error: Tencent Cloud, Volcengine. */
const ENVELOPES = ['Response', 'ResponseMetadata']

const DEPTH_MAX = 4

/**
 * Finds the error in an event or a body: an object, a text, or a list of them, under `error` or `errors`, or flat. Its text is
 * then under `message`, and its code under `code`.
 *
 * @param isBeside - whether there is an answer beside it, so that a text alone is no error
 */
export function errorIn(value: unknown, isBeside: boolean): JsonObject | undefined {
  if (Array.isArray(value)) return first(value, (each) => errorIn(each, isBeside))
  if (!isObject(value)) return undefined
  const named = namedError(value)
  if (named !== undefined) {
    if (isBeside && saysNone(named)) return undefined
    // Beside `error: true` or a bare code the rest of the object has the text.
    return named.message === undefined ? { ...factsOf(value), ...named } : named
  }
  if (value.object === 'error') return factsOf(value) ?? value
  if (isBeside || CODES.some((name) => name in value && SUCCESS.has(value[name]))) return undefined
  const flat = factsOf(value)
  return flat?.message === undefined ? undefined : flat
}

function namedError(value: JsonObject): JsonObject | undefined {
  return (
    errorOf(value.error) ??
    errorOf(value.errors) ??
    first(ENVELOPES, (name) => errorOf(objectOf(value[name]).Error)) ??
    first(OUTCOMES, (name) => failedOutcome(name, value[name]))
  )
}

/** An outcome is an error only by its code; those that have succeeded have a text as well. */
function failedOutcome(name: string, value: unknown): JsonObject | undefined {
  const facts = isObject(value) ? factsOf(value) : undefined
  if (facts === undefined || codeIn(facts.code) === undefined) return undefined
  // With its name, since these numbers mean something else to others.
  return { message: facts.message, code: `${name} ${facts.code}` }
}

/** Whether the fields of an error say that there is no error. */
function saysNone(error: JsonObject): boolean {
  if (CODES.some((name) => SUCCESS.has(error[name]))) return true
  return codeIn(error.code) === undefined && NO_ERROR.test(textOf(error.message) ?? '')
}

/** What stands under `error`; nothing if it is empty, as servers send it beside an answer. */
function errorOf(value: unknown, depth = 0): JsonObject | undefined {
  if (value === true) return {}
  if (typeof value === 'string') return textOf(value) === undefined ? undefined : { message: value }
  if (typeof value === 'number') return SUCCESS.has(value) ? undefined : { code: value }
  if (depth > DEPTH_MAX) return undefined
  if (Array.isArray(value)) return first(value, (each) => errorOf(each, depth + 1))
  return isObject(value) ? (factsOf(value) ?? errorOf(value.error, depth + 1)) : undefined
}

/** The object with its text and its code under their usual names; undefined if it has neither. */
function factsOf(value: JsonObject): JsonObject | undefined {
  const message = first(MESSAGES, (name) => textIn(value[name]))
  const code = first(CODES, (name) => codeIn(value[name])) ?? statusIn(value.status)
  if (message === undefined && code === undefined) return undefined
  return {
    ...value,
    ...(message !== undefined && { message }),
    ...(code !== undefined && { code }),
  }
}

/** A status may also be a word for how far something has got. */
function statusIn(status: unknown): number | undefined {
  return typeof status === 'number' && status >= 400 ? status : undefined
}

/** A text, also one within an object or a list, as validators send it. */
function textIn(value: unknown, depth = 0): string | undefined {
  if (typeof value === 'string') return textOf(value)
  if (depth > DEPTH_MAX) return undefined
  if (Array.isArray(value)) return first(value, (each) => textIn(each, depth + 1))
  return isObject(value) ? first([...MESSAGES, 'text'], (name) => textIn(value[name], depth + 1)) : undefined
}

function codeIn(value: unknown): string | number | undefined {
  const isCode = typeof value === 'number' || (typeof value === 'string' && value !== '')
  return isCode && !SUCCESS.has(value) ? value : undefined
}

function first<Item, Found>(
  items: readonly Item[],
  find: (item: Item) => Found | undefined,
): Found | undefined {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}
