import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import type { FastifyError, FastifyInstance, FastifySchemaValidationError } from 'fastify'
import { Problem } from '#core/errors.ts'
import { callerName } from '#core/input/caller-name.ts'
import { expectation, type JsonSchema } from '#core/input/expectation.ts'
import type { FieldPath } from '#core/values/field-path.ts'
import { type FieldPlace, RequestProblem } from './field-place.ts'

const PARTS: Readonly<Record<string, FieldPlace['part']>> = {
  body: 'body',
  querystring: 'query',
  params: 'path',
  headers: 'headers',
}

/**
 * Installs Ajv as the validator. Bodies are validated as they are; query strings and paths are text, so their values are
 * converted to the types of the schema.
 */
export function installValidation(app: FastifyInstance): void {
  const strict = createAjv(false)
  const coercing = createAjv(true)
  app.setValidatorCompiler(({ schema, httpPart }) => {
    for (const [id, shared] of Object.entries(app.getSchemas())) {
      for (const ajv of [strict, coercing])
        if (ajv.getSchema(id) === undefined) ajv.addSchema(shared as object, id)
    }
    if (httpPart === 'querystring') return withoutControlCharacters(coercing.compile(schema))
    return (httpPart === 'body' ? strict : coercing).compile(schema)
  })
  // Fastify would generate a serializer for each route and status. The tests of the contract check that responses match it.
  app.setSerializerCompiler(() => (reply) => JSON.stringify(reply))
}

/** Refuses control characters: no query parameter needs them, and PostgreSQL rejects a NUL with an error. */
function withoutControlCharacters(
  validate: ValidateFunction,
): (query: unknown) => boolean | { error: Problem } {
  const check = (query: unknown) => {
    check.errors = undefined
    const control = Object.entries(query ?? {}).find(([, value]) => /\p{Cc}/u.test(String(value)))
    if (control !== undefined) {
      const place = { part: 'query', path: [callerName(control[0])] } as const
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
    // Puts the schema into the error; the message says what the schema expects.
    verbose: true,
    // Stopping at the first error keeps hostile bodies cheap.
    allErrors: false,
    // Optimizing the generated code of every route would slow down the start; V8 optimizes what is used anyway.
    code: { optimize: false },
  })
  addFormats.default(ajv, ['uuid', 'date-time', 'uri'])
  return ajv
}

/** The problem for an error of the validator: it names the field and says what the schema expects there. */
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
  const required = missing === undefined ? '' : 'is required; '
  return new RequestProblem(place, `${required}expected ${expectation(schema)}.`)
}

/** `/files/2` becomes `['files', 2]`. */
function pathOf(pointer: string, property?: string): FieldPath {
  const keys = pointer.split('/').slice(1)
  if (property !== undefined) keys.push(property)
  return keys.map((key) => (/^\d+$/.test(key) ? Number(key) : callerName(key)))
}

function propertySchema(schema: unknown, name: string): JsonSchema | undefined {
  return (schema as JsonSchema | undefined)?.properties?.[name]
}
