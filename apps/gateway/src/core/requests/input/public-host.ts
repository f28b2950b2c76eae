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
  if (ipaddr.IPv4.isValid(address)) return isOrdinary(ipaddr.IPv4.parse(address))
  if (!ipaddr.IPv6.isValid(address)) return false
  const parsed = ipaddr.IPv6.parse(address)
  return parsed.match(GLOBAL_UNICAST) && isOrdinary(parsed)
}

/**
 * Sets the addresses and CIDR ranges that are private in the operator's network although their range is public. They are those of the
 * process, since every process has one network, and are set when it starts.
 */
export function setPrivateAddresses(configured: readonly string[]): void {
  privateRanges = rangesOf(configured)
}

/** Azure's wire server, which gives every machine there its configuration. */
const PRIVATE_EVERYWHERE = ['168.63.129.16']

let privateRanges = rangesOf([])

function isOrdinary(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return address.range() === 'unicast' && ipaddr.subnetMatch(address, { privateRanges }, '') === ''
}

type Range = [network: ipaddr.IPv4 | ipaddr.IPv6, bits: number]

function rangesOf(configured: readonly string[]): Range[] {
  return [...PRIVATE_EVERYWHERE, ...configured].map((text): Range => {
    const [network, bits] = ipaddr.parseCIDR(
      text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`,
    )
    // An IPv4 network may be written as IPv6; addresses are compared in their own kind.
    const isMapped = network instanceof ipaddr.IPv6 && network.isIPv4MappedAddress() && bits >= 96
    return isMapped ? [network.toIPv4Address(), bits - 96] : [network, bits]
  })
}

/** 2000::/3 is the only block that IANA has allocated for global unicast. */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]

const LOCAL_NAME =
  /\.(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|svc|cluster\.local|home\.arpa)$/i
