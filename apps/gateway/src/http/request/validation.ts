import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import type { FastifyError, FastifyInstance, FastifyRequest, FastifySchemaValidationError } from 'fastify'
import { MISTAKES_MAX, Problem } from '#core/base/errors/errors.ts'
import type { FieldPath } from '#core/base/values/field-path.ts'
import { type FieldPlace, type PlacedMistake, RequestProblem } from './field-place.ts'
import { CONTROL_CHARACTERS, type FormSchema, findShapeMistakes, shapeMistake } from './shape-mistakes.ts'

/** The parts of a request, by the names and in the order in which Fastify validates them. */
const PARTS: Readonly<Record<string, FieldPlace['part']>> = {
  params: 'path',
  body: 'body',
  querystring: 'query',
  headers: 'headers',
}

/**
 * Installs Ajv as the validator. Bodies are validated as they are; query strings and paths are text, so their values are
 * converted to the types of the schema.
 */
export function installValidation(app: FastifyInstance): void {
  const strict = compilerOf(app, createAjv(false))
  const coercing = compilerOf(app, createAjv(true))
  // Parts of schemas are compiled when a request is first refused by them.
  app.decorate('shapeValidators', { strict, coercing })
  app.setValidatorCompiler(({ schema, httpPart }) => {
    const compile = httpPart === 'body' ? strict : coercing
    const validate = whenAsked(() => compile(schema))
    return httpPart === 'querystring' ? withoutControlCharacters(validate) : validate
  })
  // Fastify would generate a serializer for each route and status. The tests of the contract check that responses match it.
  app.setSerializerCompiler(() => JSON.stringify)
}

type Compile = (schema: object) => ValidateFunction

/** Compiles schemas, which may refer to those that routes share. Ajv keeps what it has compiled, by the schema. */
function compilerOf(app: FastifyInstance, ajv: Ajv): Compile {
  let knowsShared = false
  return (schema) => {
    if (!knowsShared) {
      for (const [id, shared] of Object.entries(app.getSchemas())) ajv.addSchema(shared as object, id)
      knowsShared = true
    }
    return ajv.compile(schema)
  }
}

type Validate = Pick<ValidateFunction, 'errors'> & ((value: unknown) => boolean)

/**
 * Compiles a validator when a request first needs it. Compiling those of all routes took a third of a start, and a process
 * meets few of them.
 */
function whenAsked(compile: () => ValidateFunction): Validate {
  let compiled: ValidateFunction | undefined
  const check: Validate = (value) => {
    compiled ??= compile()
    const isValid = compiled(value)
    check.errors = compiled.errors ?? null
    return isValid
  }
  return check
}

/** Refuses control characters: no query parameter needs them, and PostgreSQL rejects a NUL with an error. */
function withoutControlCharacters(validate: Validate): Validate {
  const check: Validate = (query) => {
    const name = nameOfControlled(query)
    const isValid = name === undefined && validate(query)
    check.errors = name === undefined ? (validate.errors ?? null) : [controlError(`/${name}`)]
    return isValid
  }
  return check
}

function nameOfControlled(query: unknown): string | undefined {
  return Object.entries(query ?? {}).find(([, value]) => CONTROL.test(String(value)))?.[0]
}

const CONTROL = /\p{Cc}/u

function controlError(instancePath: string): ErrorObject {
  return { keyword: CONTROL_CHARACTERS, instancePath, schemaPath: '', params: {} }
}

function createAjv(coerceTypes: boolean): Ajv {
  const ajv = new Ajv({
    coerceTypes,
    useDefaults: true,
    strict: false,
    // A test does this for the schemas of all routes, so that no start does.
    meta: false,
    validateSchema: false,
    // Puts the schema into the error; the message says what the schema expects.
    verbose: true,
    // Stopping at the first error keeps hostile bodies cheap; the others are searched for by findShapeMistakes.
    allErrors: false,
    // V8 optimizes what is used often.
    code: { optimize: false },
  })
  addFormats.default(ajv, ['uuid', 'date-time', 'uri'])
  return ajv
}

/** The problem for an error of the validator: it names the first field and says what the schema expects there. */
export function validationProblem(error: FastifyError): Problem {
  const [first] = error.validation as (FastifySchemaValidationError & Partial<ErrorObject>)[]
  if (first === undefined) return new Problem('invalid_request', { cause: error })
  const part = PARTS[error.validationContext ?? 'body'] ?? 'body'
  const { path, text } = shapeMistake(first, unknownIn(part))
  return new RequestProblem({ part, path }, text)
}

/** What the schemas of a route refuse in a request, and the request without it. */
export interface JudgedShape {
  readonly mistakes: readonly PlacedMistake[]
  readonly sound: SoundRequest
}

/**
 * The parts of a request in which every value has the type of the schema. What had another one is undefined, also within
 * lists, so that the other items keep their place.
 */
export interface SoundRequest {
  readonly body: unknown
  readonly query: unknown
}

/** Searches all parts of a request that its schemas have refused, for at most {@link MISTAKES_MAX} mistakes. */
export function judgeShape(request: FastifyRequest): JudgedShape {
  const { schema } = request.routeOptions
  const mistakes: PlacedMistake[] = []
  const sound: Record<FieldPlace['part'], unknown> = {
    path: request.params,
    body: request.body,
    query: request.query,
    headers: request.headers,
  }
  const copies = new WeakSet<object>()
  for (const [context, part] of Object.entries(PARTS)) {
    const form = schema?.[context as 'body'] as FormSchema | undefined
    if (form === undefined || (part === 'body' && request.routeOptions.config?.isBodyStream)) continue
    const value = sound[part]
    findShapeMistakes(
      {
        validatorOf: request.server.shapeValidators[part === 'body' ? 'strict' : 'coercing'],
        resolve: (reference) => resolved(request, reference),
        unknown: unknownIn(part),
        take: ({ path, text, isUnknown = false }) => {
          // No rule reads an unknown field, and a body may have thousands of them.
          if (!isUnknown) sound[part] = without(sound[part], path, copies)
          return mistakes.push({ place: { part, path }, text }) < MISTAKES_MAX
        },
      },
      form,
      value,
    )
  }
  return { mistakes, sound }
}

/** The schema that a reference names, or the schema itself. */
export function resolved({ server }: FastifyRequest, schema: FormSchema): FormSchema {
  const id = schema.$ref?.replace(/#$/, '')
  return id === undefined ? schema : ((server.getSchema(id) ?? schema) as FormSchema)
}

function unknownIn(part: FieldPlace['part']): 'parameter' | 'field' {
  return part === 'query' ? 'parameter' : 'field'
}

/**
 * The value with nothing at this path. What is changed is a copy, of which each object has one for all paths, since it may have
 * thousands of fields.
 */
function without(value: unknown, [name, ...rest]: FieldPath, copies: WeakSet<object>): unknown {
  if (name === undefined) return undefined
  if (typeof value !== 'object' || value === null) return value
  const child = (value as Readonly<Record<string, unknown>>)[name]
  const left = without(child, rest, copies)
  if (left === child) return value
  const copy: object = copies.has(value) ? value : Array.isArray(value) ? [...value] : { ...value }
  copies.add(copy)
  return Object.assign(copy, { [name]: left })
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route reads the body by itself, so that its schema only describes it. */
    isBodyStream?: boolean
  }

  interface FastifyInstance {
    /** Validators by schema, of bodies and of what comes as text. */
    shapeValidators: Readonly<Record<'strict' | 'coercing', Compile>>
  }
}
