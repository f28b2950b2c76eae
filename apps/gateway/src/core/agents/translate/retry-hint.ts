import type { HeaderReader } from '#core/agents/adapter.ts'
import { isObject, type JsonObject, listOf } from '#core/base/values/json.ts'

interface RetryFacts {
  readonly header?: HeaderReader | undefined
  /** The platform's text. */
  readonly message?: unknown
  /** The platform's error, which may name a delay beside its text. */
  readonly error?: JsonObject | undefined
}

/**
 * How many seconds a platform asks to wait: by its headers, else by a field of its error, else in the words of its text.
 * Undefined if it does not say, or not so that it can be read.
 */
export function retryHint({ header, message, error }: RetryFacts): number | undefined {
  return (
    ofMilliseconds(header?.('retry-after-ms')) ??
    (header === undefined ? undefined : ofRetryAfter(header)) ??
    ofError(error) ??
    ofText(message)
  )
}

function ofMilliseconds(value: string | undefined): number | undefined {
  const ms = numberIn(value)
  return ms === undefined ? undefined : ms / 1_000
}

/** Seconds, or a date. The gateway's clock need not agree with the platform's, so a date is compared with that of the response. */
function ofRetryAfter(header: HeaderReader): number | undefined {
  const value = header('retry-after')?.trim() ?? ''
  const seconds = numberIn(value) ?? durationIn(value)
  if (seconds !== undefined) return seconds
  const ms = dateIn(value) - dateIn(header('date')?.trim() ?? '')
  return Number.isNaN(ms) ? undefined : ms / 1_000
}

/** The three forms of RFC 9110, and ISO 8601. Node would read nearly any text with a number as a date. */
const DATE = /^(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? .*\d\d:\d\d:\d\d|\d{4}-\d\d-\d\dt\d\d:\d\d)/i
const ZONE = /(?:gmt|utc|z|[+-]\d\d:?\d\d)$/i

/** Milliseconds since 1970, or NaN. A date without a zone, as C's `asctime` writes it, is one of Greenwich. */
function dateIn(text: string): number {
  if (!DATE.test(text)) return Number.NaN
  return Date.parse(ZONE.test(text) ? text : `${text}${text.includes('T') ? 'Z' : ' GMT'}`)
}

function ofError(error: JsonObject | undefined): number | undefined {
  if (error === undefined) return undefined
  // `google.rpc.RetryInfo`, which Gemini puts among the details of its errors.
  for (const holder of [error, ...listOf(error.details)]) {
    if (!isObject(holder)) continue
    const { retryDelay, retry_after: retryAfter } = holder
    for (const delay of [retryDelay, retryAfter]) {
      const value = isObject(delay) ? delay.seconds : delay
      const seconds = numberIn(value) ?? durationIn(value)
      if (seconds !== undefined) return seconds
    }
  }
  return undefined
}

function numberIn(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? value : undefined
  return typeof value === 'string' && /^\s*\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : undefined
}

/** The more precise unit first, since `m` also begins `ms`. */
const UNITS: readonly (readonly [RegExp, number])[] = [
  [/^(?:ms|millis|毫秒)/i, 0.001],
  [/^(?:s|秒)/i, 1],
  [/^(?:m|分)/i, 60],
  [/^(?:h|小时)/i, 3_600],
  [/^(?:d|天)/i, 86_400],
]

const UNIT =
  '(?:milliseconds?|millis|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|毫秒|秒|分钟|分|小时|天)'
const STEP = `\\d{1,9}(?:\\.\\d{1,9})?\\s?${UNIT}`
const DURATION = `${STEP}(?:(?:,|\\sand)?\\s?${STEP}){0,4}(?![a-z])`
const WHOLE_DURATION = new RegExp(`^${DURATION}$`, 'i')
const STEPS = /(\d{1,9}(?:\.\d{1,9})?)\s?([a-z]+|毫秒|秒|分|小时|天)/gi

/** Such as `1m26.4s`, `26 seconds` or `26秒`. */
function durationIn(value: unknown): number | undefined {
  if (typeof value !== 'string' || !WHOLE_DURATION.test(value)) return undefined
  let seconds = 0
  for (const [, number, unit = ''] of value.matchAll(STEPS)) {
    seconds += Number(number) * (UNITS.find(([pattern]) => pattern.test(unit))?.[1] ?? 0)
  }
  return seconds
}

/** `try again in 26 seconds`, `retry after 1m26s`, `wait for 5 s`, and the same the other way round in Chinese. */
const WORDS: readonly RegExp[] = [
  new RegExp(
    `\\b(?:try(?:ing)? again|retry(?:ing)?|wait)(?:\\s(?:again|after|in|for|at least|about|another))*\\s(${DURATION})`,
    'i',
  ),
  new RegExp(`(${DURATION})\\s?(?:之?后|以后)?.{0,6}(?:重试|再试)`, 'i'),
]

const TEXT_CHARACTERS_MAX = 2_000

function ofText(message: unknown): number | undefined {
  if (typeof message !== 'string') return undefined
  const text = message.slice(0, TEXT_CHARACTERS_MAX)
  for (const pattern of WORDS) {
    const seconds = durationIn(pattern.exec(text)?.[1])
    if (seconds !== undefined) return seconds
  }
  return undefined
}
