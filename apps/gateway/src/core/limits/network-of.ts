import ipaddr from 'ipaddr.js'

/**
 * The key by which limits count a network address. A host may use any address of its IPv6 /64 (RFC 7934), so a /64 is one
 * caller. An IPv4 address is the same caller in all of the forms in which IPv6 embeds it.
 */
export function networkOf(address: string): string {
  // A proxy may forward text that is not an address; it is then counted as it is.
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  const bytes = parsed.toByteArray()
  if (CARRIERS.has(parsed.range())) return bytes.slice(12).join('.')
  const parts = [0, 2, 4, 6].map((index) =>
    (((bytes[index] ?? 0) << 8) | (bytes[index + 1] ?? 0)).toString(16),
  )
  return `${parts.join(':')}::/64`
}

/** Ranges of translated IPv4 addresses (NAT64, SIIT), in which one /64 contains the whole IPv4 internet. */
const CARRIERS: ReadonlySet<string> = new Set(['rfc6052', 'rfc6145'])
