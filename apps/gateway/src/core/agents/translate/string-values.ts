import { toJson } from './json.ts'

/** Variables for platforms that know texts only; others go as JSON. */
export function stringValues(variables: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : (toJson(value) ?? ''),
    ]),
  )
}
