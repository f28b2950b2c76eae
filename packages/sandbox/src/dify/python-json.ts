/** Serializes JSON as Python's `json.dumps` does: with a space after each separator, in ASCII only. */
export function pythonJson(value: unknown): string {
  return (
    JSON.stringify(value, null, 1)
      // JSON strings contain no raw line breaks, so each one follows a separator or a bracket.
      .replace(/(,)?\n\s*/g, (_whole, comma?: string) => (comma ? ', ' : ''))
      .replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  )
}
