/** The longest name that DNS has. */
export const HOST_CHARACTERS_MAX = 253
const PORT_CHARACTERS = ':65535'.length

/**
 * Parses a URL of others. The URL parser takes quadratic time for a host in letters outside of ASCII, so a text whose host is longer
 * than any name is not parsed.
 *
 * @returns null also for a host of more than {@link HOST_CHARACTERS_MAX} characters, whether as it is written or in ASCII
 */
export function parseUrl(text: string, base?: string): URL | null {
  if (hasLongHost(text)) return null
  const url = URL.parse(text, base)
  return url !== null && url.hostname.length > HOST_CHARACTERS_MAX ? null : url
}

/** Whether the host of a URL, as it is written, is longer than any name. */
export function hasLongHost(text: string): boolean {
  const authority = AUTHORITY.exec(text)?.[1] ?? ''
  return authority.length > HOST_CHARACTERS_MAX + PORT_CHARACTERS
}

/** What the parser takes for the host with its port: it ignores gaps, and accepts any number of slashes, and backslashes. */
const AUTHORITY = /^(?:[^:/\\?#]*:|(?=[\0-\x20]*[/\\][\t\n\r]*[/\\]))[\0-\x20/\\]*([^/\\?#]*)/
