import type { Agent } from '#core/agents/adapter.ts'
import type { Failure } from '#core/agents/events.ts'
import { failureOf } from '#core/agents/translate/failure.ts'
import { isObject, type JsonObject, listOf, objectOf, textOf } from '#core/base/values/json.ts'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'
import { parseUrl } from '#core/base/values/parse-url.ts'
import { withoutTrailing } from '#core/base/values/without-trailing.ts'

/** A version of the protocol and the way in which it is sent. */
export type Dialect = 'http' | 'rpc' | 'rpc-0.3'

/** What the adapter needs of an agent's card. */
export interface A2aCard {
  /** Where the agent takes requests; without slashes at its end for `http`, whose paths are below it. */
  readonly url: string
  readonly dialect: Dialect
  /** Sent with each request where the agent is one of several behind one address. */
  readonly tenant?: string
  readonly streams: boolean
  /** The header that takes the key, if that is another one than `authorization`. */
  readonly keyHeader?: string
}

/** One place at which an agent takes requests, as either version of the card names it. */
interface Interface {
  readonly url: string
  readonly dialect: Dialect
  readonly tenant?: string
}

/**
 * Reads a card, which is untrusted: the key is sent only to the origin of the base URL, or to one that the entry lists.
 *
 * @param origins - those that the entry lists
 */
export function readCard(
  card: JsonObject,
  { baseUrl }: Pick<Agent, 'baseUrl'>,
  origins: readonly string[],
): { readonly ok: A2aCard } | { readonly failure: Failure } {
  const named = interfacesOf(card)
  const spoken = named.flatMap(({ url, binding, version, tenant }) => {
    const dialect = dialectOf(binding, version)
    return dialect === undefined || url === undefined ? [] : [{ url, dialect, ...omitUndefined({ tenant }) }]
  })
  if (spoken.length === 0)
    return unusable('it names no interface of version 1.0, nor one of version 0.3 with JSON-RPC')
  const allowed = new Set([baseUrl, ...origins].map((each) => originOf(each)))
  const reachable = spoken.flatMap((each) => locate(each, baseUrl, allowed))
  const chosen = reachable.find(({ dialect }) => dialect !== 'rpc-0.3') ?? reachable[0]
  if (chosen === undefined) {
    const places = [...new Set(spoken.map(({ url }) => originOf(url, baseUrl) ?? 'no URL'))].join(', ')
    return unusable(
      `it sends requests to ${places}, which is neither the origin of baseUrl nor among origins`,
    )
  }
  const keyHeader = keyHeaderOf(card)
  const streams = objectOf(card.capabilities).streaming === true
  return { ok: { ...chosen, streams, ...omitUndefined({ keyHeader }) } }
}

interface NamedInterface {
  readonly url: string | undefined
  readonly binding: string
  readonly version: string
  readonly tenant: string | undefined
}

/** The interfaces in the order in which the agent prefers them: those of version 1.0, then the ones under the names of 0.3. */
function interfacesOf(card: JsonObject): readonly NamedInterface[] {
  const { supportedInterfaces, url, preferredTransport, additionalInterfaces, protocolVersion } = card
  const version = textOf(protocolVersion) ?? '0.3'
  const former = [{ url, transport: preferredTransport }, ...listOf(additionalInterfaces)].map(objectOf)
  return [
    ...listOf(supportedInterfaces).map((each) => {
      const named = objectOf(each)
      return {
        url: textOf(named.url),
        binding: textOf(named.protocolBinding) ?? '',
        version: textOf(named.protocolVersion) ?? '1.0',
        tenant: textOf(named.tenant),
      }
    }),
    ...former.map((named) => ({
      url: textOf(named.url),
      binding: textOf(named.transport) ?? 'JSONRPC',
      version,
      tenant: undefined,
    })),
  ]
}

function dialectOf(binding: string, version: string): Dialect | undefined {
  const isFirst = /^1(?:\.|$)/.test(version)
  if (binding === 'HTTP+JSON') return isFirst ? 'http' : undefined
  if (binding !== 'JSONRPC') return undefined
  if (isFirst) return 'rpc'
  // In 0.2.5 and later everything that is used here is as in 0.3.
  return /^0\.(?:3|2\.[5-9])(?:\.|$)/.test(version) ? 'rpc-0.3' : undefined
}

/** The interface with its absolute URL; nothing if that is not at one of the allowed origins. */
function locate(
  named: Interface,
  baseUrl: string,
  allowed: ReadonlySet<string | undefined>,
): readonly Interface[] {
  // A URL without an origin is one below the base URL, as a card in the configuration may have it.
  const url = parseUrl(named.url, `${baseUrl}/`)
  if (url === null || !isHttp(url) || url.username !== '' || url.password !== '' || !allowed.has(url.origin))
    return []
  url.hash = ''
  return [{ ...named, url: named.dialect === 'http' ? withoutTrailing(url.href, '/') : url.href }]
}

function originOf(url: string, base?: string): string | undefined {
  const parsed = parseUrl(url, base)
  return parsed !== null && isHttp(parsed) ? parsed.origin : undefined
}

function isHttp({ protocol }: URL): boolean {
  return protocol === 'https:' || protocol === 'http:'
}

/** A header of the names that are usual for keys; a card must not choose any other one. */
const KEY_HEADER = /^(?:[a-z0-9]{1,32}-){0,4}(?:api-?key|key|token|authorization|auth)$/i

/** Where the key belongs, if the agent takes it in no other way: in both versions of a card a scheme has one of several kinds. */
function keyHeaderOf({ securitySchemes }: JsonObject): string | undefined {
  const schemes = Object.values(objectOf(securitySchemes)).filter(isObject)
  const headers = schemes.map((scheme) => {
    // Servers of `@a2a-js/sdk` write the scheme as it is in their memory.
    const { $case, value } = objectOf(scheme.scheme)
    const named = scheme.apiKeySecurityScheme ?? ($case === 'apiKeySecurityScheme' ? value : undefined)
    const { location, name } = objectOf(named)
    if (location === 'header') return textOf(name)
    return scheme.type === 'apiKey' && scheme.in === 'header' ? textOf(scheme.name) : undefined
  })
  const takesBearer = schemes.some((_scheme, index) => headers[index] === undefined)
  const header = headers.find((name) => name !== undefined && KEY_HEADER.test(name))
  return takesBearer ? undefined : header?.toLowerCase()
}

function unusable(note: string): { failure: Failure } {
  return { failure: { ...failureOf('agent_misconfigured'), note } }
}
