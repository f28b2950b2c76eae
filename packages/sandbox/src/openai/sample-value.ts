import { asList, asRecord, asText, type JsonRecord } from '../serving/narrow.ts'

/** How deep a value is at most where its schema refers to itself: below, only what is required is filled in. */
const DEPTH_FULL = 4
/** A schema whose required fields refer to itself has no value at all. */
const DEPTH_MAX = 32

const TEXT = '沙箱 sandbox'

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': '2026-01-02T03:04:05Z',
  date: '2026-01-02',
  time: '03:04:05Z',
  duration: 'P1D',
  email: 'ada@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
}

/**
 * Returns a value that matches a JSON Schema, as models with structured outputs give one: the keywords that OpenAI supports are
 * honoured, but for `pattern`.
 */
export function sampleValue(schema: JsonRecord, root: JsonRecord = schema, depth = 0): unknown {
  if (depth > DEPTH_MAX) return null
  const { $ref, anyOf, oneOf, allOf, enum: values } = schema
  const deeper = (each: unknown) => sampleValue(asRecord(each), root, depth + 1)
  if (typeof $ref === 'string') return deeper(referred(root, $ref))
  if ('const' in schema) return schema.const
  if (Array.isArray(values)) return values[0]
  const choices = [...asList(anyOf), ...asList(oneOf)]
  if (choices.length > 0) return deeper(choiceOf(choices, depth))
  if (Array.isArray(allOf)) return deeper(Object.assign({}, schema, { allOf: undefined }, ...allOf))
  switch (typeOf(schema, depth)) {
    case 'null':
      return null
    case 'boolean':
      return true
    case 'number':
    case 'integer':
      return numberOf(schema)
    case 'array':
      return arrayOf(schema, depth, deeper)
    case 'object':
      return objectOf(schema, depth, deeper)
    default:
      return textOf(schema)
  }
}

/** What a reference within the schema leads to (`#/$defs/step`, or `#` alone). */
function referred(root: JsonRecord, reference: string): JsonRecord {
  const names = reference.split('/').slice(1)
  return names.reduce(
    (found, name) => asRecord(found[decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~')]),
    root,
  )
}

/** The first choice, or the one that ends a schema that refers to itself. */
function choiceOf(choices: readonly unknown[], depth: number): unknown {
  const ends = depth < DEPTH_FULL ? undefined : choices.find((each) => asRecord(each).type === 'null')
  return ends ?? choices[0]
}

function typeOf({ type, properties, items }: JsonRecord, depth: number): unknown {
  if (Array.isArray(type)) return depth >= DEPTH_FULL && type.includes('null') ? 'null' : type[0]
  if (type !== undefined) return type
  if (properties !== undefined) return 'object'
  return items === undefined ? 'string' : 'array'
}

function numberOf({ type, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: JsonRecord) {
  const step = typeof multipleOf === 'number' ? multipleOf : type === 'integer' ? 1 : 0.5
  const least = Math.max(
    typeof minimum === 'number' ? minimum : Number.NEGATIVE_INFINITY,
    typeof exclusiveMinimum === 'number' ? exclusiveMinimum + step : Number.NEGATIVE_INFINITY,
  )
  const most = Math.min(
    typeof maximum === 'number' ? maximum : Number.POSITIVE_INFINITY,
    typeof exclusiveMaximum === 'number' ? exclusiveMaximum - step : Number.POSITIVE_INFINITY,
  )
  const unit = typeof multipleOf === 'number' ? multipleOf : 1
  if (least > unit) return Math.ceil(least / step) * step
  return most < unit ? Math.floor(most / step) * step : unit
}

function textOf({ format, minLength, maxLength }: JsonRecord): string {
  const text = FORMATS[asText(format)] ?? TEXT
  const padded = text.padEnd(typeof minLength === 'number' ? minLength : 0, '.')
  return typeof maxLength === 'number' ? padded.slice(0, maxLength) : padded
}

function arrayOf({ items, minItems }: JsonRecord, depth: number, sample: (item: unknown) => unknown) {
  const length = typeof minItems === 'number' ? minItems : depth < DEPTH_FULL && items !== undefined ? 1 : 0
  return Array.from({ length }, () => sample(items))
}

function objectOf({ properties, required }: JsonRecord, depth: number, sample: (item: unknown) => unknown) {
  const needed = asList(required)
  return Object.fromEntries(
    Object.entries(asRecord(properties))
      .filter(([name]) => depth < DEPTH_FULL || needed.includes(name))
      .map(([name, schema]) => [name, sample(schema)]),
  )
}
