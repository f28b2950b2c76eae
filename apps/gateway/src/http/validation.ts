import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import type { FastifyError, FastifyInstance, FastifySchemaValidationError } from 'fastify'
import { Problem } from '#core/errors.ts'
import { expectation, type JsonSchema } from '#core/expectation.ts'
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

function propertySchema(schema: unknown, name: string): JsonSchema | undefined {
  return (schema as JsonSchema | undefined)?.properties?.[name]
}
