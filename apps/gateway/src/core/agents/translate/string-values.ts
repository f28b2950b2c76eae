import { toJson } from '#core/base/values/json.ts'

/** Converts variables for platforms that accept strings only; other values are encoded as JSON. */
export function stringValues(variables: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : (toJson(value) ?? ''),
    ]),
  )
}
