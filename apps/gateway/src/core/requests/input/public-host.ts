import ipaddr from 'ipaddr.js'
import { withoutTrailing } from '#core/base/values/without-trailing.ts'

/**
 * Whether the host of a URL is public, as far as its text goes.
 *
 * @param hostname - as the URL parser gives it. It has already normalized every notation of an IPv4 address (hexadecimal, octal, a
 * single number) to dotted decimal, except for a host that ends in several dots, which it takes for a name.
 */
export function isPublicHost(hostname: string): boolean {
  if (hostname.startsWith('[')) return isPublicAddress(hostname.slice(1, -1))
  const host = withoutTrailing(hostname, '.')
  if (ipaddr.IPv4.isValid(host)) return isPublicAddress(host)
  return host.includes('.') && !LOCAL_NAME.test(host)
}

/**
 * Only ordinary unicast addresses are public: IPv6 ranges that embed an IPv4 address (mapped, NAT64, 6to4, Teredo) may lead to a
 * private one.
 */
export function isPublicAddress(address: string): boolean {
  if (ipaddr.IPv4.isValid(address)) return ipaddr.IPv4.parse(address).range() === 'unicast'
  if (!ipaddr.IPv6.isValid(address)) return false
  const parsed = ipaddr.IPv6.parse(address)
  return parsed.range() === 'unicast' && parsed.match(GLOBAL_UNICAST)
}

/** 2000::/3 is the only block that IANA has allocated for global unicast. */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]

const LOCAL_NAME =
  /\.(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|svc|cluster\.local|home\.arpa)$/i
