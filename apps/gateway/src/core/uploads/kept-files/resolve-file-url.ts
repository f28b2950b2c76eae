import type { Agent } from '#core/agents/adapter.ts'
import { parseUrl } from '#core/base/values/parse-url.ts'
import { isPublicHost } from '#core/requests/input/public-host.ts'

type FilesAgent = Pick<Agent, 'baseUrl' | 'filesUrl'>

/**
 * The URL under which clients find a file of an agent. An http(s) URL stays as it is, and one without an origin gets that of the
 * agent's files.
 *
 * @returns undefined for URLs of other schemes, and where {@link lacksFilesUrl}
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

/** Whether the agent has to be given a `filesUrl`, since nobody but the gateway reaches the address that the URL would get. */
export function lacksFilesUrl(url: string, agent: FilesAgent): boolean {
  return url.trim() !== '' && parseUrl(url.trim()) === null && filesOrigin(agent) === undefined
}

/** The origin from which files are fetched although its address is private; undefined where nothing is said. */
export function trustedOrigin({ filesUrl }: Pick<Agent, 'filesUrl'>): string | undefined {
  return filesUrl === undefined ? undefined : new URL(filesUrl).origin
}

/** What text can contain as it is, such as the answer in which the URL may stand as well. */
const PLAIN = /^https?:\/\/[^\s\\\p{Cc}]+$/iu

function filesOrigin({ baseUrl, filesUrl }: FilesAgent): string | undefined {
  const { origin, hostname } = new URL(filesUrl ?? baseUrl)
  return filesUrl !== undefined || isPublicHost(hostname) ? origin : undefined
}

function isHttp({ protocol }: URL): boolean {
  return protocol === 'http:' || protocol === 'https:'
}
