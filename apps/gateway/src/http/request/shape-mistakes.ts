import type { ErrorObject, ValidateFunction } from 'ajv'
import type { FieldPath } from '#core/base/values/field-path.ts'
import { callerName } from '#core/requests/input/caller-name.ts'
import { expectation, type JsonSchema } from '#core/requests/input/expectation.ts'
import { nearestName } from '#core/requests/input/nearest-name.ts'

/** A value that does not match its schema, by the names of the request. */
export interface ShapeMistake {
  readonly path: FieldPath
  readonly text: string
  /** Whether the schema knows no field of this name. */
  readonly isUnknown?: true
}

/** The keywords by which the search goes down into a value; everything else is judged by the validator. */
export interface FormSchema extends JsonSchema {
  readonly $ref?: string
  readonly anyOf?: readonly FormSchema[]
  readonly items?: FormSchema
  readonly properties?: Readonly<Record<string, FormSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: unknown
  /** What is wrong with names that a caller may expect here, such as those that only the record has; see body-schema.ts. */
  readonly otherFields?: Readonly<Record<string, string>>
}

export interface ShapeSearch {
  readonly validatorOf: (schema: FormSchema) => ValidateFunction
  /** Replaces a reference by the schema that it names. */
  readonly resolve: (schema: FormSchema) => FormSchema
  /** Receives the mistakes in the order of the schema; the search ends once it returns false. */
  readonly take: (mistake: ShapeMistake) => boolean
  /** What fields that the schema does not know are called. */
  readonly unknown: 'parameter' | 'field'
}

/**
 * Searches a value that a validator has refused for all mistakes. The validator itself stops at the first, since one that
 * collects all would report every item of a hostile body. So the search applies it to one property and one item after the
 * other, and ends when enough was found. Returns false if it ended early.
 */
export function findShapeMistakes(
  search: ShapeSearch,
  reference: FormSchema,
  value: unknown,
  path: FieldPath = [],
): boolean {
  const { resolve, validatorOf, take } = search
  const schema = resolve(reference)
  const validate = validatorOf(schema)
  if (validate(value)) return true
  const [error] = validate.errors ?? []
  // The items of a list that is too long are not worth naming.
  if (error?.instancePath === '' && OF_LISTS.has(error.keyword)) {
    return take(shapeMistake(error, search.unknown, path))
  }
  let found = 0
  const counting: ShapeSearch = {
    ...search,
    take: (mistake) => {
      found += 1
      return take(mistake)
    },
  }
  for (const form of [schema, ...(schema.anyOf ?? []).map(resolve)]) {
    const goesOn = searchInside(counting, form, value, path)
    if (found > 0) return goesOn
  }
  return error === undefined || take(shapeMistake(error, search.unknown, path))
}

const OF_LISTS: ReadonlySet<string> = new Set(['maxItems', 'minItems', 'uniqueItems'])

function searchInside(search: ShapeSearch, form: FormSchema, value: unknown, path: FieldPath): boolean {
  const { items, properties } = form
  if (Array.isArray(value)) {
    return (
      items === undefined ||
      value.every((item, index) => findShapeMistakes(search, items, item, [...path, index]))
    )
  }
  if (properties === undefined || typeof value !== 'object' || value === null) return true
  return searchProperties(search, form, value as Readonly<Record<string, unknown>>, path)
}

function searchProperties(
  search: ShapeSearch,
  form: FormSchema,
  value: Readonly<Record<string, unknown>>,
  path: FieldPath,
): boolean {
  const { properties = {}, required = [], additionalProperties } = form
  for (const [name, property] of Object.entries(properties)) {
    const place = [...path, name]
    if (Object.hasOwn(value, name)) {
      if (!findShapeMistakes(search, property, value[name], place)) return false
    } else if (required.includes(name)) {
      const text = missingText(search.resolve(property))
      if (!search.take({ path: place, text })) return false
    }
  }
  if (additionalProperties !== false) return true
  return Object.keys(value).every(
    (name) =>
      Object.hasOwn(properties, name) || search.take(unknownMistake(form, name, search.unknown, path)),
  )
}

/** What one error of the validator says, by a schema that may be above the place of the mistake. */
export function shapeMistake(
  error: Partial<ErrorObject>,
  unknown: ShapeSearch['unknown'],
  above: FieldPath = [],
): ShapeMistake {
  const { keyword, params = {}, instancePath = '', parentSchema } = error
  const at = [...above, ...pathOf(instancePath)]
  switch (keyword) {
    case 'required': {
      const name = String(params.missingProperty)
      const { properties } = (parentSchema ?? {}) as JsonSchema
      return { path: [...at, callerName(name)], text: missingText(properties?.[name]) }
    }
    case 'additionalProperties':
      return unknownMistake(
        (parentSchema ?? {}) as FormSchema,
        String(params.additionalProperty),
        unknown,
        at,
      )
    case CONTROL_CHARACTERS:
      return { path: at, text: 'must not contain control characters.' }
    default:
      return { path: at, text: `expected ${expectation(parentSchema)}.` }
  }
}

/** The keyword of the errors that are not Ajv's, see validation.ts. */
export const CONTROL_CHARACTERS = 'controlCharacters'

function missingText(schema: unknown): string {
  return `is required; expected ${expectation(schema)}.`
}

function unknownMistake(
  { properties = {}, otherFields = {} }: FormSchema,
  name: string,
  unknown: ShapeSearch['unknown'],
  above: FieldPath,
): ShapeMistake {
  const path = [...above, callerName(name)]
  const own = Object.hasOwn(otherFields, name) ? otherFields[name] : undefined
  if (own !== undefined) return { path, text: own, isUnknown: true }
  const near = nearestName(name, [...Object.keys(properties), ...Object.keys(otherFields)])
  const sentences = [`is not a known ${unknown}.`]
  if (near !== undefined) sentences.push(`Did you mean ${near}?`)
  if (near !== undefined && !Object.hasOwn(properties, near)) sentences.push(`It ${otherFields[near]}`)
  return { path, text: sentences.join(' '), isUnknown: true }
}

/** `/files/2` becomes `['files', 2]`. */
function pathOf(pointer: string): FieldPath {
  const keys = pointer.split('/').slice(1)
  return keys.map((key) => (/^\d+$/.test(key) ? Number(key) : callerName(key)))
}
