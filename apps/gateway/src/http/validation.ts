import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import type { FastifyError, FastifyInstance, FastifySchemaValidationError } from 'fastify'
import { Problem } from '#core/errors.ts'
import type { FieldPath } from '#core/field-path.ts'
import { type FieldPlace, RequestProblem } from './field-place.ts'

const PARTS: Readonly<Record<string, FieldPlace['part']>> = {
  body: 'body',
  querystring: 'query',
  params: 'path',
  headers: 'headers',
}

/** Bodies are taken as they are; query strings and paths are text by nature, so numbers in them are read as numbers. */
export function installValidation(app: FastifyInstance): void {
  const strict = createAjv(false)
  const reading = createAjv(true)
  app.setValidatorCompiler(({ schema, httpPart }) => {
    for (const [id, shared] of Object.entries(app.getSchemas())) {
      for (const ajv of [strict, reading])
        if (ajv.getSchema(id) === undefined) ajv.addSchema(shared as object, id)
    }
    if (httpPart === 'querystring') return plainTexts(reading.compile(schema))
    return (httpPart === 'body' ? strict : reading).compile(schema)
  })
  // Fastify would make code for each route and status. That replies are as documented is what the contract's tests hold.
  app.setSerializerCompiler(() => (reply) => JSON.stringify(reply))
}

/** No parameter of a query has a use for control characters, and PostgreSQL answers a NUL with an error. */
function plainTexts(validate: ValidateFunction): (query: unknown) => boolean | { error: Problem } {
  const check = (query: unknown) => {
    check.errors = undefined
    const control = Object.entries(query ?? {}).find(([, value]) => /\p{Cc}/u.test(String(value)))
    if (control !== undefined) {
      const place = { part: 'query', path: [control[0]] } as const
      return { error: new RequestProblem(place, 'must not contain control characters.') }
    }
    const isValid = validate(query)
    check.errors = validate.errors
    return isValid
  }
  check.errors = validate.errors
  return check
}

function createAjv(coerceTypes: boolean): Ajv {
  const ajv = new Ajv({
    coerceTypes,
    useDefaults: true,
    strict: false,
    // It brings the schema into the error, from which the expectation is told.
    verbose: true,
    // One error at a time keeps hostile bodies cheap.
    allErrors: false,
    // V8 optimizes what is used; to have all of it optimized first is time that a start takes.
    code: { optimize: false },
  })
  addFormats.default(ajv, ['uuid', 'date-time'])
  return ajv
}

export function validationProblem(error: FastifyError): Problem {
  const [first] = error.validation as (FastifySchemaValidationError & Partial<ErrorObject>)[]
  if (first === undefined) return new Problem('invalid_request', { cause: error })
  const part = PARTS[error.validationContext ?? 'body'] ?? 'body'
  const missing = first.keyword === 'required' ? String(first.params.missingProperty) : undefined
  const unknown =
    first.keyword === 'additionalProperties' ? String(first.params.additionalProperty) : undefined
  const place = { part, path: pathOf(first.instancePath, missing ?? unknown) }
  if (unknown !== undefined)
    return new RequestProblem(place, `is not a known ${part === 'query' ? 'parameter' : 'field'}.`)
  const schema = missing === undefined ? first.parentSchema : propertySchema(first.parentSchema, missing)
  const lacks = missing === undefined ? '' : 'is required; '
  return new RequestProblem(place, `${lacks}expected ${expectation(schema)}.`)
}

/** `/files/2` becomes `['files', 2]`. */
function pathOf(pointer: string, property?: string): FieldPath {
  const keys = pointer.split('/').slice(1)
  if (property !== undefined) keys.push(property)
  return keys.map((key) => (/^\d+$/.test(key) ? Number(key) : key))
}

interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly format?: string
  readonly anyOf?: readonly JsonSchema[]
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly uniqueItems?: boolean
  /** Said as it is where the keywords cannot tell (patterns, above all). */
  readonly expected?: string
}

function propertySchema(schema: unknown, name: string): JsonSchema | undefined {
  return (schema as JsonSchema | undefined)?.properties?.[name]
}

function expectation(schema: unknown): string {
  const { expected, type, enum: values, anyOf, items, ...rest } = (schema ?? {}) as JsonSchema
  if (expected !== undefined) return expected
  if (values !== undefined) return `one of ${values.join(', ')}`
  if (rest.const !== undefined) return String(rest.const)
  if (anyOf !== undefined) return anyOf.map(expectation).join(' or ')
  switch (type) {
    case 'string':
      if (rest.format !== undefined) return `a string (${rest.format})`
      return `a string${range(rest.minLength, rest.maxLength, 'characters')}`
    case 'integer':
      return `an integer${range(rest.minimum, rest.maximum, '')}`
    case 'array': {
      const distinct = rest.uniqueItems === true ? ', no item twice' : ''
      return `an array of ${items === undefined ? 'values' : expectation(items)}${range(rest.minItems, rest.maxItems, 'items')}${distinct}`
    }
    case 'boolean':
      return 'true or false'
    case 'object':
      return 'an object'
    case undefined:
      return 'a valid value'
    default:
      return String(type)
  }
}

function range(least: number | undefined, most: number | undefined, unit: string): string {
  const tail = unit === '' ? '' : ` ${unit}`
  if (least !== undefined && most !== undefined) return ` of ${least} to ${most}${tail}`
  if (most !== undefined) return ` of at most ${most}${tail}`
  if (least !== undefined && least > 0) return ` of at least ${least}${tail}`
  return ''
}
