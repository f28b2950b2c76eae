import { TrunklineError } from '../errors.ts'

/** Copies headers and sets more of them, which replace those of the same name in any spelling. */
export function withHeaders(
  first: RequestInit['headers'] | undefined,
  more: Readonly<Record<string, string>>,
): Headers {
  try {
    const headers = new Headers(first)
    for (const [name, value] of Object.entries(more)) headers.set(name, value)
    return headers
  } catch {
    // The error itself repeats the value, which may be a credential.
    throw new TrunklineError('A header is invalid.')
  }
}
