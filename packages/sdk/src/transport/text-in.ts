/** Returns a property of anything that was received, if it is a text. */
export function textIn(value: unknown, name: string): string | undefined {
  const found: unknown = Object(value)[name]
  return typeof found === 'string' ? found : undefined
}
