import { isObject, type JsonObject, textOf } from '#core/values/json.ts'

const MESSAGES = ['message', 'msg', 'detail', 'error_msg', 'error_message', 'errorMessage', 'Message']
const CODES = ['code', 'error_code', 'errorCode', 'Code', 'status']

/** Codes that say that there was no error. */
const SUCCESS: ReadonlySet<unknown> = new Set([0, 200, '', '0', '200', 'ok', 'OK', 'success', 'Success'])

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
  const named = errorOf(value.error) ?? errorOf(value.errors)
  if (named !== undefined) {
    // Beside `error: true` or a bare code the rest of the object has the text.
    return named.message === undefined ? { ...flat(value), ...named } : named
  }
  if (isBeside && value.object !== 'error') return undefined
  return flat(value)
}

/** What stands under `error`; nothing if it is empty, as servers send it beside an answer. */
function errorOf(value: unknown, depth = 0): JsonObject | undefined {
  if (value === true) return {}
  if (typeof value === 'string') return textOf(value) === undefined ? undefined : { message: value }
  if (typeof value === 'number') return SUCCESS.has(value) ? undefined : { code: value }
  if (depth > DEPTH_MAX) return undefined
  if (Array.isArray(value)) return first(value, (each) => errorOf(each, depth + 1))
  if (!isObject(value)) return undefined
  return flat(value) ?? errorOf(value.error, depth + 1) ?? (value.object === 'error' ? value : undefined)
}

function flat(value: JsonObject): JsonObject | undefined {
  const message = first(MESSAGES, (name) => textIn(value[name]))
  const code = first(CODES, (name) => codeIn(value[name]))
  if (message === undefined && code === undefined) return undefined
  // A text beside a code that says success is no error.
  if (code === undefined && CODES.some((name) => name in value && isSuccess(value[name]))) {
    if (value.object !== 'error') return undefined
  }
  return {
    ...value,
    ...(message !== undefined && { message }),
    ...(code !== undefined && { code }),
  }
}

/** A text, also one within an object or a list, as validators send it. */
function textIn(value: unknown, depth = 0): string | undefined {
  if (typeof value === 'string') return textOf(value)
  if (depth > DEPTH_MAX) return undefined
  if (Array.isArray(value)) return first(value, (each) => textIn(each, depth + 1))
  return isObject(value) ? first([...MESSAGES, 'text'], (name) => textIn(value[name], depth + 1)) : undefined
}

function codeIn(value: unknown): string | number | undefined {
  return (typeof value === 'number' || typeof value === 'string') && !SUCCESS.has(value) ? value : undefined
}

function isSuccess(value: unknown): boolean {
  return value !== '' && SUCCESS.has(value)
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
