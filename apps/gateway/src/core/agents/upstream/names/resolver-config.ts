/** What `/etc/resolv.conf` says about look-ups. */
export interface ResolverConfig {
  /** Addresses of name servers. Empty if the file names none. */
  readonly servers: readonly string[]
  /** Domains that are appended to names with fewer than {@link ResolverConfig.ndots} dots. */
  readonly search: readonly string[]
  readonly ndots: number
}

/** As in the C library: what is beyond these bounds is not used. */
const SERVERS_MAX = 3
const NDOTS_MAX = 15

/** @param hostname - its domain is searched if the file names none */
export function parseResolverConfig(text: string, hostname: string): ResolverConfig {
  const servers: string[] = []
  let search = hostname.includes('.') ? [hostname.slice(hostname.indexOf('.') + 1)] : []
  let ndots = 1
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line
      .replace(/^[#;].*/, '')
      .trim()
      .split(/\s+/)
    // The last of several lines `search` and `domain` counts.
    if (keyword === 'search') search = values
    else if (keyword === 'domain') search = values.slice(0, 1)
    else if (keyword === 'nameserver') servers.push(...values.slice(0, 1))
    else if (keyword === 'options') ndots = ndotsIn(values) ?? ndots
  }
  return {
    servers: servers.slice(0, SERVERS_MAX),
    // The root, which some files name to search nowhere, becomes an empty text.
    search: search.map((domain) => domain.replace(/^\.|\.$/g, '')).filter((domain) => domain !== ''),
    ndots,
  }
}

/** The full names that a name may stand for, in the order in which they are tried. */
export function fullNamesOf(name: string, { search, ndots }: Omit<ResolverConfig, 'servers'>): string[] {
  if (name.endsWith('.')) return [name]
  const inDomains = search.map((domain) => `${name}.${domain}`)
  const dots = name.split('.').length - 1
  return dots >= ndots ? [name, ...inDomains] : [...inDomains, name]
}

function ndotsIn(options: readonly string[]): number | undefined {
  const found = options.findLast((option) => /^ndots:\d+$/.test(option))
  return found === undefined ? undefined : Math.min(NDOTS_MAX, Number(found.slice('ndots:'.length)))
}
