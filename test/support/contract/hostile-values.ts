import fc from 'fast-check'

/** Texts that are known to break parsers, databases, clocks or regular expressions. */
const TEXTS = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  'a\udfffb',
  '\u202e\ufeff',
  '😀'.repeat(100),
  'x'.repeat(5_000),
  "'; DROP TABLE calls; --",
  '../../etc/passwd',
  '__proto__',
  'constructor',
  '{"$gt":""}',
  '\\',
  '%',
  '%00',
  '-0',
  '1e400',
  'NaN',
  'null',
  '9223372036854775808',
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10',
  'AAAAAAAAAAAAAAAAAAAAAA',
]

/** Raw URL text that no encoder would produce. */
const RAW = [
  '%00',
  '%ff',
  '%',
  '%zz',
  '%C0%80',
  '%ED%A0%80',
  '%F0%9F%98%80',
  '+',
  '%0d%0a',
  '%2e%2e',
  '1&limit=2',
]

const TIMES = [
  '0000-01-01',
  '0001-01-01T00:00:00Z',
  '1969-12-31T23:59:59Z',
  '1970-01-01',
  '2026-02-30',
  '2026-02-30T00:00:00Z',
  '2026-11-20T00:00:00+23:59',
  '2026-11-20',
  '9999-12-31',
  '9999-12-31T23:59:59.999Z',
  '9999-12-31T23:59:59-23:59',
  '+010000-01-01T00:00:00Z',
  '-000001-01-01T00:00:00Z',
]

const ZONES = [
  ...Intl.supportedValuesOf('timeZone'),
  'UTC',
  'utc',
  '+01:00',
  '+05:30',
  '-23:59',
  'GMT+1',
  'Etc/GMT-14',
]

const GROUPS = ['key', 'agent', 'app', 'model', 'user', 'end_user', 'outcome', 'colour', '', ' key']

interface Schema {
  readonly enum?: readonly unknown[]
}

/** Values for a query string, already encoded. */
export function queryValues(name: string, { enum: words = [] }: Schema): fc.Arbitrary<string> {
  const likely: fc.Arbitrary<unknown>[] = words.length > 0 ? [fc.constantFrom(...words)] : []
  if (name === 'from' || name === 'to') likely.push(times())
  if (name === 'timezone') likely.push(fc.constantFrom(...ZONES))
  if (name === 'group_by') likely.push(fc.subarray(GROUPS).map((groups) => groups.join(',')))
  return fc.oneof(
    ...likely.map((arbitrary) => ({ weight: 8, arbitrary: arbitrary.map(encoded) })),
    { weight: 3, arbitrary: fc.constantFrom(...TEXTS).map(encoded) },
    { weight: 2, arbitrary: fc.constantFrom('%00', 'a%00', '%0Ab') },
    { weight: 2, arbitrary: fc.constantFrom(...RAW) },
    { weight: 1, arbitrary: fc.integer().map(String) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }).map(encoded) },
  )
}

/** Values for a path segment, already encoded. */
export function pathValues(): fc.Arbitrary<string> {
  return fc.oneof(
    fc.constantFrom(...TEXTS.filter((text) => text.length < 1_000)).map(encoded),
    fc.constantFrom(...RAW.filter((text) => !text.includes('&'))),
    fc.string({ unit: 'binary', maxLength: 40 }).map(encoded),
  )
}

export function headerValues(): fc.Arbitrary<string> {
  const latin1 = fc.integer({ min: 0xa0, max: 0xff }).map((code) => String.fromCharCode(code))
  const ascii = fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code))
  return fc.oneof(
    fc.constantFrom(...RAW, ...TEXTS.filter((text) => /^[\x20-\x7e]*$/.test(text))),
    fc.string({ unit: fc.oneof(ascii, latin1), maxLength: 300 }),
  )
}

/** Texts for the head and the content of a part of a form, which may break its lines. */
export function partTexts(): fc.Arbitrary<string> {
  return fc.oneof(
    fc.constantFrom(
      ...TEXTS,
      ...RAW,
      '"',
      '\r\n',
      '\r',
      '"; filename="a',
      "utf-8''%ff",
      '\r\n\r\n',
      'x'.repeat(100_000),
    ),
    fc.string({ unit: 'binary', maxLength: 300 }),
  )
}

/** Values for a field of a body: any JSON, and often a text or number at the limit of a type. */
export function fieldValues(): fc.Arbitrary<unknown> {
  const edges = [-1, -0, 0, 1, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308, 0.1, true, false, null]
  const texts = fc.oneof(fc.constantFrom(...TEXTS, ...TIMES), fc.string({ unit: 'binary', maxLength: 300 }))
  return fc.oneof(
    texts,
    fc.constantFrom(...edges),
    fc.jsonValue({ maxDepth: 4 }),
    fc.array(texts, { maxLength: 60 }),
    fc.dictionary(texts, texts, { maxKeys: 5 }),
  )
}

function times(): fc.Arbitrary<string> {
  return fc.oneof(
    fc.constantFrom(...TIMES),
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    fc
      .date({ noInvalidDate: true, min: new Date('2026-10-01'), max: new Date('2026-12-31') })
      .map((date) => date.toISOString().slice(0, 10)),
  )
}

/** Encodes text; lone surrogates, which encoders reject, become the bytes that a careless client would send. */
function encoded(value: unknown): string {
  const text = String(value)
  return text.isWellFormed() ? encodeURIComponent(text) : '%ED%A0%80'
}
