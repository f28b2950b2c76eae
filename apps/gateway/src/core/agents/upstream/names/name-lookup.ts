import { promises } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { isIP } from 'node:net'
import { networkInterfaces, hostname as systemHostname } from 'node:os'
import { DnsAnswers } from './dns-answers.ts'
import { parseHosts } from './hosts-file.ts'
import { interleaved, lookupWith } from './lookup-answer.ts'
import { fullNamesOf, parseResolverConfig, type ResolverConfig } from './resolver-config.ts'
import { WatchedFile } from './watched-file.ts'

/**
 * Two packets, 2 s in all: c-ares would wait for a silent server for 24 s. Node looks for what has timed out once in `timeout`,
 * so a packet that is given up exactly then is often noticed a second later.
 */
const RESOLVER = { timeout: 1_000, maxTimeout: 900, tries: 2 }
const LOOPBACK = ['127.0.0.1', '::1']

export interface NameLookupOptions {
  readonly hostsFile?: string
  readonly resolverConfigFile?: string
  /** The machine's own name. */
  readonly hostname?: string
  /** A clock, in milliseconds. */
  readonly elapsedMs?: () => number
}

/**
 * Creates the look-up of platforms' names: `/etc/hosts`, the machine's own name, and then name servers, which c-ares asks from
 * the event loop. `dns.lookup` occupies a thread of the pool until the name servers have answered, and two of its four threads at
 * most, so that one name with a dead name server delays all others, logins and files.
 *
 * Errors have the codes of c-ares: `ENOTFOUND`, `ENODATA`, `ETIMEOUT`, `ECONNREFUSED`, `ESERVFAIL`.
 */
export function createNameLookup({
  hostsFile = '/etc/hosts',
  resolverConfigFile = '/etc/resolv.conf',
  hostname = systemHostname(),
  elapsedMs = () => performance.now(),
}: NameLookupOptions = {}): LookupFunction {
  const ownName = hostname.toLowerCase()
  const hosts = new WatchedFile(hostsFile, parseHosts, elapsedMs)
  const parseConfig = (text: string) => parseResolverConfig(text, ownName)
  const config = new WatchedFile(resolverConfigFile, parseConfig, elapsedMs)
  const resolverFor = latestResolver()
  const answers = new DnsAnswers((name) => {
    const { content } = config
    return { resolver: resolverFor(content), fullNames: fullNamesOf(name, content) }
  }, elapsedMs)

  return lookupWith(async (given) => {
    if (isIP(given) !== 0) return interleaved([given])
    const name = given.toLowerCase()
    const plain = name.replace(/\.$/, '')
    const local = hosts.content.get(plain) ?? ownAddressesOf(plain, ownName)
    return local === undefined ? answers.find(name) : interleaved(local)
  })
}

/** A resolver reads its servers when it is made, so there is a new one when the file has changed. */
function latestResolver(): (config: ResolverConfig) => promises.Resolver {
  let resolver: promises.Resolver
  let madeFor: ResolverConfig | undefined
  return (config) => {
    if (config === madeFor) return resolver
    madeFor = config
    resolver = new promises.Resolver(RESOLVER)
    if (config.servers.length > 0) resolver.setServers(config.servers)
    return resolver
  }
}

/**
 * The addresses of this machine under its own name. Those of the network come first, where most servers listen, and then those
 * of servers that only this machine can reach.
 */
function ownAddressesOf(name: string, ownName: string): string[] | undefined {
  if (name === 'localhost' || name.endsWith('.localhost')) return LOOPBACK
  if (name !== ownName) return undefined
  const external = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    // An address of the link alone cannot be connected to without the name of its interface.
    .filter(({ internal, scopeid }) => !internal && !scopeid)
    .map(({ address }) => address)
  return [...external, ...LOOPBACK]
}
