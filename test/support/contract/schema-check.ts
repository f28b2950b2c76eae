import { createRequire } from 'node:module'

interface Ajv {
  addSchema(schema: object, name: string): void
  compile(schema: object): (value: unknown) => boolean
  errorsText(errors: unknown): string
}

// The JSON Schema implementation that the OpenAPI validator uses, in the dialect of OpenAPI 3.1.
const validator = createRequire(import.meta.url).resolve('@seriousme/openapi-schema-validator')
const load = createRequire(validator)
const { Ajv2020 } = load('ajv/dist/2020.js') as { Ajv2020: new (options: object) => Ajv }
const { default: addFormats } = load('ajv-formats') as { default: (ajv: Ajv) => void }

/** Returns what is wrong with a value, or undefined if it is valid. */
export type Check = (value: unknown) => string | undefined

const compilers = new WeakMap<object, Ajv>()

/** A check by the schema at this JSON path of the document. */
export function schemaCheck(document: object, place: readonly string[]): Check {
  const ajv = compilers.get(document) ?? compilerOf(document)
  const pointer = place.map(
    (step) => `/${encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))}`,
  )
  const check = ajv.compile({ $ref: `contract#${pointer.join('')}` })
  return (value) => (check(value) ? undefined : ajv.errorsText((check as { errors?: unknown }).errors))
}

function compilerOf(document: object): Ajv {
  const ajv = new Ajv2020({ strict: false })
  addFormats(ajv)
  ajv.addSchema(document, 'contract')
  compilers.set(document, ajv)
  return ajv
}

const closedDocuments = new WeakMap<object, object>()

/**
 * The same for replies, with one more rule: clients must ignore unknown fields, but the gateway sends documented fields
 * only.
 */
export function replyCheck(document: object, place: readonly string[]): Check {
  let contract = closedDocuments.get(document)
  if (contract === undefined) {
    contract = closed(document)
    closedDocuments.set(document, contract)
  }
  return schemaCheck(contract, place)
}

function closed<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(closed) as Value
  if (typeof value !== 'object' || value === null) return value
  const copy = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, closed(each)]))
  const isOpen =
    copy.type === 'object' && typeof copy.properties === 'object' && !('additionalProperties' in copy)
  return (isOpen ? { ...copy, additionalProperties: false } : copy) as Value
}
