/** JSON as Python's `json.dumps` writes it: a space after each separator, ASCII only. */
export function pythonJson(value: unknown): string {
  return (
    JSON.stringify(value, null, 1)
      // Raw line breaks are never inside strings: each one is a separator's or a bracket's.
      .replace(/(,)?\n\s*/g, (_whole, comma?: string) => (comma ? ', ' : ''))
      .replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  )
}
