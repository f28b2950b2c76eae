/** Copies headers and sets more of them, which replace those of the same name in any spelling. */
export function withHeaders(
  first: RequestInit['headers'] | undefined,
  more: Readonly<Record<string, string>>,
): Headers {
  const headers = new Headers(first)
  for (const [name, value] of Object.entries(more)) headers.set(name, value)
  return headers
}
