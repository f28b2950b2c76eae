import type { Readable } from 'node:stream'
import { type Dispatcher, request } from 'undici'
import type { Agent } from '#core/agents/adapter.ts'
import { createNameLookup } from '#core/agents/upstream/names/name-lookup.ts'
import { systemLookup } from '#core/agents/upstream/names/system-lookup.ts'
import { createPools, type Lookups, type PooledAgent } from '#core/agents/upstream/pools.ts'
import { errorCode } from '#core/base/values/error-code.ts'
import { parseUrl } from '#core/base/values/parse-url.ts'
import { isPublicHost } from '#core/requests/input/public-host.ts'
import type { FileSource } from '#core/uploads/incoming/incoming-file.ts'
import { NotKept } from './not-kept.ts'
import { PrivateAddress, publicLookup } from './public-lookup.ts'
import { trustedOrigin } from './resolve-file-url.ts'

export type FetchingAgent = PooledAgent & Pick<Agent, 'filesUrl'>

/** A file of which the headers have come. */
export interface FetchedFile extends FileSource {
  /** The `Content-Type` of the answer, in lower case and without parameters. */
  readonly servedAs: string
  /** Must be called in the end. Closes the connection, unless the file has been read to its end. */
  close(): void
}

export type FileFetcher = ReturnType<typeof createFileFetcher>

const REDIRECTS_MAX = 3
const URL_CHARACTERS_MAX = 8_192
/** Neither a cookie nor a credential, and a body that is not encoded: its size would be unknown before it is decoded. */
const HEADERS = { accept: '*/*', 'accept-encoding': 'identity' }

/** @param lookups - how names are looked up; by default as the system is configured */
export function createFileFetcher(lookups: Partial<Lookups> = {}) {
  const { dns = createNameLookup(), system = systemLookup } = lookups
  const trusted = createPools({ dns, system })
  const guarded = createPools({
    dns: publicLookup(dns),
    system: (waitMs) => publicLookup(system(waitMs)),
  })

  /** @throws NotKept if nothing may be requested from this URL */
  function dispatcherFor(url: URL, agent: FetchingAgent): Dispatcher {
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      throw new NotKept('no_http_url', 'expected an http(s) URL')
    if (url.username !== '' || url.password !== '')
      throw new NotKept('no_http_url', 'expected a URL without credentials')
    if (url.origin === trustedOrigin(agent)) return trusted.of(agent)
    // An address in the URL itself is never looked up.
    if (!isPublicHost(url.hostname)) throw privateAddress(url)
    // The proxy would look up the name, and connect to whatever address it finds.
    if (agent.connection.proxy !== undefined)
      throw new NotKept('behind_proxy', 'the agent has a proxy, through which only filesUrl is fetched')
    return guarded.of(agent)
  }

  async function open(url: URL, agent: FetchingAgent, signal: AbortSignal) {
    const dispatcher = dispatcherFor(url, agent)
    try {
      return await request(url, { dispatcher, method: 'GET', headers: HEADERS, signal })
    } catch (error) {
      throw signal.aborted ? signal.reason : unreachable(url, error)
    }
  }

  return {
    /**
     * Requests a file without any credential. Addresses are public ones, unless the URL has the origin of the agent's `filesUrl`;
     * that holds for the address of each connection, and for each redirect anew.
     *
     * @param bytesMax - answers that announce more are not read
     * @throws NotKept
     */
    async fetch(
      text: string,
      agent: FetchingAgent,
      bytesMax: number,
      signal: AbortSignal,
    ): Promise<FetchedFile> {
      let url = text.length > URL_CHARACTERS_MAX ? null : parseUrl(text)
      for (let redirects = 0; ; redirects += 1) {
        if (url === null) throw new NotKept('no_http_url', 'expected an http(s) URL')
        const { statusCode, headers, body } = await open(url, agent, signal)
        // It fails when it is closed before its end.
        body.on('error', () => undefined)
        try {
          if (!isRedirect(statusCode)) return fetchedFile(statusCode, headers, body, bytesMax)
        } catch (error) {
          body.destroy()
          throw error
        }
        body.destroy()
        if (redirects === REDIRECTS_MAX)
          throw new NotKept('bad_response', `it has more than ${REDIRECTS_MAX} redirects`)
        url = parseUrl(String(headers.location), url.href)
      }
    },
    async close() {
      await Promise.all([trusted.destroy(), guarded.destroy()])
    },
  }
}

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** @throws NotKept if the answer is not the whole file as it is */
function fetchedFile(status: number, headers: Headers, body: Readable, bytesMax: number): FetchedFile {
  if (status !== 200) throw new NotKept('bad_response', `the answer has the status ${status}`)
  const encoding = String(headers['content-encoding'] ?? 'identity')
  if (encoding.toLowerCase() !== 'identity')
    throw new NotKept('bad_response', 'the answer is encoded, although no encoding is accepted')
  if (Number(headers['content-length'] ?? 0) > bytesMax)
    throw new NotKept('body_too_large', `it has more than ${bytesMax} bytes`)
  const [servedAs = ''] = String(headers['content-type'] ?? '').split(';', 1)
  return {
    body,
    problemOf: (error) => new NotKept('unreachable', 'its end is missing', { cause: error }),
    servedAs: servedAs.trim().toLowerCase(),
    close: () => void body.destroy(),
  }
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status)
}

function privateAddress({ origin }: URL): NotKept {
  return new NotKept(
    'private_address',
    `${origin} has no public address; if the files of the agent are there, set filesUrl`,
  )
}

function unreachable(url: URL, error: unknown): NotKept {
  if (error instanceof PrivateAddress) return privateAddress(url)
  const code = errorCode(error)
  return new NotKept(
    'unreachable',
    `${url.origin} does not answer${code === undefined ? '' : ` (${code})`}`,
    {
      cause: error,
    },
  )
}
