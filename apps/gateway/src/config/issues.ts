import Type, { type TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { isObject } from '#core/base/values/json.ts'
import { expectation } from '#core/requests/input/expectation.ts'
import { nearestName } from '#core/requests/input/nearest-name.ts'

const SHOWN_CHARACTERS_MAX = 80

/** One thing that is wrong with the configuration. */
export interface ConfigIssue {
  /** The place in the file, such as `agents.support.apps["a.b"]`, or the name of an environment variable. */
  readonly path: string
  readonly problem: string
}

/** Everything that is wrong with the configuration, as one line for each issue. */
export class ConfigError extends Error {
  readonly issues: readonly string[]

  constructor(issues: readonly string[], options?: ErrorOptions) {
    super(issues.join('\n'), options)
    this.name = 'ConfigError'
    this.issues = issues
  }
}

/** Lists each value that the schema refuses: where it is, what was expected and what was found. */
export function findIssues(schema: TSchema, value: unknown, path: string): ConfigIssue[] {
  if (value === undefined) return [{ path, problem: `missing, expected ${expectation(schema)}` }]
  const inside = findInside(schema, value, path)
  if (inside.length > 0 || Value.Check(schema, value)) return inside
  return [{ path, problem: `expected ${expectation(schema)}${found(schema, value)}` }]
}

/** The path of a key below another path. Keys that are not plain words are quoted in brackets. */
export function pathOf(parent: string, key: string): string {
  if (!/^[\w-]+$/.test(key)) return `${parent}[${JSON.stringify(key)}]`
  return parent === '' ? key : `${parent}.${key}`
}

function findInside(schema: TSchema, value: unknown, path: string): ConfigIssue[] {
  if (Type.IsArray(schema) && Array.isArray(value)) {
    return value.flatMap((item, index) => findIssues(schema.items, item, `${path}[${index}]`))
  }
  if (!isObject(value)) return []
  if (Type.IsObject(schema)) {
    const names = Object.keys(schema.properties)
    const unknown = Object.keys(value).filter((key) => !names.includes(key))
    return [
      ...unknown.map((key) => ({
        path: pathOf(path, key),
        problem: `unknown property${suggest(key, names)}`,
      })),
      ...Object.entries(schema.properties)
        .filter(([name, property]) => value[name] !== undefined || !Type.IsOptional(property))
        .flatMap(([name, property]) => findIssues(property, value[name], pathOf(path, name))),
    ]
  }
  if (Type.IsRecord(schema)) {
    // Linear time: not needed, because only operators write the configuration.
    const key = new RegExp(Type.RecordPattern(schema), 'u')
    return Object.entries(value).flatMap(([name, item]) =>
      key.test(name)
        ? findIssues(Type.RecordValue(schema), item, pathOf(path, name))
        : [{ path: pathOf(path, name), problem: `expected ${expectedKey(schema)}` }],
    )
  }
  return []
}

/** The description of the keys of a mapping, because a pattern would not be understood in a message. */
function expectedKey(schema: TSchema): string {
  const text: unknown = Reflect.get(schema, 'expectedKey')
  if (typeof text !== 'string') throw new Error('The schema lacks "expectedKey".')
  return text
}

function found(schema: TSchema, value: unknown): string {
  if (value === null) return ', got nothing'
  if (isObject(value)) return ', got a mapping'
  // If a list was expected, its content is wrong, so it is shown below.
  if (Array.isArray(value) && !Type.IsArray(schema)) return ', got a list'
  if (value === '' && Reflect.has(schema, 'minLength')) return ', got an empty one'
  const hint = Type.IsString(schema) && typeof value !== 'string' ? ' (put it in quotes)' : ''
  return Reflect.has(schema, 'secret') ? hint : `, got ${shown(value)}${hint}`
}

/** Issues are logged, so everything that may be a password in a URL is left out, even if the value is not a valid URL. */
function shown(value: unknown): string {
  const json = typeof value === 'bigint' || typeof value === 'number' ? String(value) : JSON.stringify(value)
  // Linear time: not needed, because only operators write the configuration.
  const text = json.replace(/\/\/.*@/, '//…@')
  return text.length > SHOWN_CHARACTERS_MAX ? `${text.slice(0, SHOWN_CHARACTERS_MAX)}…` : text
}

function suggest(word: string, candidates: readonly string[]): string {
  const near = nearestName(word, candidates)
  return near === undefined ? '' : `, did you mean "${near}"?`
}
