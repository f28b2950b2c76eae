/** The JSON Schema keywords that {@link expectation} reads, in schemas of requests and of the configuration. */
export interface JsonSchema {
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
  /** Replaces the generated text, for schemas whose rule the keywords cannot express, such as a pattern. */
  readonly expected?: string
}

/**
 * Returns the end of the sentence "expected …" for a schema, such as "an integer of 1 to 100". Messages about requests and
 * about the configuration both come from here, so that they read alike.
 */
export function expectation(schema: unknown): string {
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
      const count = range(rest.minItems, rest.maxItems, 'items') || ' of items'
      const each = items === undefined ? '' : `, each ${expectation(items)}`
      const distinct = rest.uniqueItems === true ? ', no item twice' : ''
      return `an array${count}${each}${distinct}`
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
  if (least !== undefined && least > 0)
    return ` of at least ${least}${least === 1 ? tail.replace(/s$/, '') : tail}`
  return ''
}
