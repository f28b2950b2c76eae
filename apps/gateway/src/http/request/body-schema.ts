import Type, { type TObject, type TProperties } from 'typebox'

interface BodyOptions {
  /** The name of the component; absent for an object within a body. */
  readonly $id?: string
  readonly description?: string
  readonly examples?: readonly unknown[]
  /** What is wrong with names that callers may expect here, which is said in place of "is not a known field". */
  readonly otherFields?: Readonly<Record<string, string>>
}

/**
 * The schema of the JSON body of a management request, or of an object within it. Fields that it does not name are refused,
 * because a misspelt one would otherwise be a success that changes nothing, or a key without the restriction that was meant.
 */
export function bodySchema<const Properties extends TProperties>(
  properties: Properties,
  { otherFields, ...options }: BodyOptions = {},
) {
  const others = Object.entries(otherFields ?? {}).filter(([name]) => !Object.hasOwn(properties, name))
  return Type.Object(properties, {
    ...options,
    additionalProperties: false,
    ...(others.length > 0 && { otherFields: Object.fromEntries(others) }),
  })
}

/**
 * The `otherFields` of a body whose resource has these fields: a client that sends back a whole record learns which of them
 * the request does not take.
 *
 * @param texts - what is said of single fields instead, also of some that the record does not have
 */
export function recordFields(
  { properties }: TObject,
  text: 'cannot be changed.' | 'cannot be set.',
  texts: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  return { ...Object.fromEntries(Object.keys(properties).map((name) => [name, text])), ...texts }
}
