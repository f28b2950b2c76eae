import type { Agent } from '#core/agents/adapter.ts'
import { parseUrl } from '#core/base/values/parse-url.ts'
import { withoutCredentials } from '#core/base/values/without-credentials.ts'
import { isPublicHost } from '#core/requests/input/public-host.ts'

type FilesAgent = Pick<Agent, 'baseUrl' | 'filesUrl'>

/**
 * The URL under which clients get a file of an agent: {@link resolveFileUrl} without credentials. A private address is shown to clients
 * only where the operator has named one for this agent; otherwise it shows the inside of the platform's network and leads nowhere.
 *
 * @returns undefined for URLs of other schemes, and where {@link lacksFilesUrl}
 */
export function clientFileUrl(url: string, agent: FilesAgent): string | undefined {
  const resolved = resolveFileUrl(url, agent)
  return resolved === undefined || isHidden(resolved, agent) ? undefined : withoutCredentials(resolved)
}

/**
 * Where a file of an agent is. An http(s) URL stays as it is, and one without an origin gets that of the agent's files.
 *
 * @returns undefined for URLs of other schemes, and for one without an origin where {@link lacksFilesUrl}
 */
export function resolveFileUrl(url: string, agent: FilesAgent): string | undefined {
  const text = url.trim()
  const absolute = parseUrl(text)
  if (absolute !== null) return isHttp(absolute) ? (PLAIN.test(text) ? text : absolute.href) : undefined
  const origin = filesOrigin(agent)
  if (text === '' || origin === undefined) return undefined
  const resolved = parseUrl(text, origin)
  return resolved !== null && isHttp(resolved) ? resolved.href : undefined
}

/** Whether clients get no URL of the file before the agent is given a `filesUrl`. */
export function lacksFilesUrl(url: string, agent: FilesAgent): boolean {
  const resolved = resolveFileUrl(url, agent)
  if (resolved !== undefined) return isHidden(resolved, agent)
  return url.trim() !== '' && parseUrl(url.trim()) === null && filesOrigin(agent) === undefined
}

/** The origin from which files are fetched although its address is private; undefined where nothing is said. */
export function trustedOrigin({ filesUrl }: Pick<Agent, 'filesUrl'>): string | undefined {
  return filesUrl === undefined ? undefined : new URL(filesUrl).origin
}

/** What text can contain as it is, such as the answer in which the URL may stand as well. */
const PLAIN = /^https?:\/\/[^\s\\\p{Cc}]+$/iu

/** Whether a URL has a private address, and the agent's entry has none. */
function isHidden(url: string, { baseUrl, filesUrl = baseUrl }: FilesAgent): boolean {
  return !isAtPublicHost(url) && isAtPublicHost(baseUrl) && isAtPublicHost(filesUrl)
}

function isAtPublicHost(url: string): boolean {
  return isPublicHost(new URL(url).hostname)
}

function filesOrigin({ baseUrl, filesUrl }: FilesAgent): string | undefined {
  return filesUrl !== undefined || isAtPublicHost(baseUrl) ? new URL(filesUrl ?? baseUrl).origin : undefined
}

function isHttp({ protocol }: URL): boolean {
  return protocol === 'http:' || protocol === 'https:'
}
