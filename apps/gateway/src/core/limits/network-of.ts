import ipaddr from 'ipaddr.js'

/**
 * What a limit for an address counts by. One host may take any address of its IPv6 /64 (RFC 7934), so the /64 is one caller;
 * an IPv4 address is one in each of the forms in which IPv6 carries it.
 */
export function networkOf(address: string): string {
  // What a proxy forwards may be anything.
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  const bytes = parsed.toByteArray()
  if (CARRIERS.has(parsed.range())) return bytes.slice(12).join('.')
  const parts = [0, 2, 4, 6].map((at) => (((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)).toString(16))
  return `${parts.join(':')}::/64`
}

/** Translated addresses (NAT64, SIIT): the whole IPv4 internet is in one /64 of these. */
const CARRIERS: ReadonlySet<string> = new Set(['rfc6052', 'rfc6145'])
