import { parseUrl } from './parse-url.ts'

/** User and password before the host of a URL. */
const USERINFO = /^(\s*(?:(?:https?|ftp|wss?):[/\\]*|[a-z][a-z\d+.-]*:[/\\]{2,}))[^/\\?#\s]*@/i

/** A URL without user and password, and otherwise as it is written; a text that is no URL stays as it is. */
export function withoutCredentials(text: string): string {
  if (!text.includes('@')) return text
  const cut = text.replace(USERINFO, '$1')
  // Parsers understand more than the usual notation, such as spaces in a password.
  const url = parseUrl(cut)
  if (url === null || (url.username === '' && url.password === '')) return cut
  url.username = ''
  url.password = ''
  return url.href
}
