/** The `\\u` escape of one UTF-16 code unit inside a JSON string. */
export function jsonEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
