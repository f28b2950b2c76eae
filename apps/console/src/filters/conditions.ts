import { asText, asTime } from './address.ts'

/** A condition of a list, as `generated/conditions.ts` has it. */
export interface Condition {
  readonly kind: 'text' | 'search' | 'words' | 'user' | 'key' | 'agent' | 'flag' | 'number' | 'time'
  /** Its name in the filter of GraphQL. */
  readonly field: string
  /** Its name in the query of REST. */
  readonly parameter: string
  /** The words of an enumeration of GraphQL, which REST writes in lower case. */
  readonly words?: readonly string[]
  readonly maxLength?: number
}

/** By their names in the address. */
export type Conditions = Readonly<Record<string, Condition>>

export type Value = string | number | boolean

type ValueOf<Of extends Condition> = Of extends { readonly words: readonly (infer Word)[] }
  ? Word
  : Of['kind'] extends 'flag'
    ? boolean
    : Of['kind'] extends 'number'
      ? number
      : string

/** The conditions that an address sets. */
export type Values<Of extends Conditions> = {
  readonly [Name in keyof Of]?: ValueOf<Of[Name]> | undefined
}

/** The same for GraphQL. */
export type FilterOf<Of extends Conditions> = {
  readonly [Name in keyof Of as Of[Name]['field']]?: ValueOf<Of[Name]>
}

/** The same for REST. */
export type ParametersOf<Of extends Conditions> = {
  readonly [Name in keyof Of as Of[Name]['parameter']]?: Of[Name] extends {
    readonly words: readonly string[]
  }
    ? Lowercase<ValueOf<Of[Name]> & string>
    : ValueOf<Of[Name]>
}

/** What an address says of conditions. Values of another kind are as if they were not there. */
export function conditionsIn<Of extends Conditions>(
  conditions: Of,
  search: Readonly<Record<string, unknown>>,
): Values<Of> {
  return mapped(Object.entries(conditions), ([name, condition]) => [name, valueIn(condition, search[name])])
}

function valueIn({ kind, words }: Condition, given: unknown): Value | undefined {
  switch (kind) {
    case 'words':
      return words?.find((word) => word === given)
    case 'flag':
      return typeof given === 'boolean' ? given : undefined
    case 'number':
      return numberIn(given)
    case 'time':
      return asTime(given)
    case 'search':
      // It may end with a space while it is being typed.
      return typeof given === 'string' || typeof given === 'number' ? String(given) : undefined
    default:
      return asText(given)
  }
}

/** A link may have it as a text. */
function numberIn(given: unknown): number | undefined {
  const number = typeof given === 'string' && /^\d{1,10}$/.test(given) ? Number(given) : given
  return Number.isInteger(number) && (number as number) >= 0 && (number as number) < 2 ** 31
    ? (number as number)
    : undefined
}

export function filterOf<Of extends Conditions>(conditions: Of, search: Values<Of>): FilterOf<Of> {
  return mapped(given(conditions, search), ([, { field }, value]) => [field, value])
}

export function parametersOf<Of extends Conditions>(conditions: Of, search: Values<Of>): ParametersOf<Of> {
  return mapped(given(conditions, search), ([, { kind, parameter }, value]) => [
    parameter,
    kind === 'words' ? String(value).toLowerCase() : value,
  ])
}

/** The conditions that are set. */
function given(conditions: Conditions, search: Readonly<Record<string, unknown>>) {
  return Object.entries(conditions).flatMap(([name, condition]) => {
    const value = search[name] as Value | undefined
    return value === undefined ? [] : [[name, condition, value] as const]
  })
}

/** The names of a list of conditions are known to the compiler, and those of their entries are not. */
function mapped<Entry, Result>(
  entries: readonly Entry[],
  map: (entry: Entry) => readonly [string, Value | undefined],
): Result {
  return Object.fromEntries(entries.map(map).filter(([, value]) => value !== undefined)) as Result
}
