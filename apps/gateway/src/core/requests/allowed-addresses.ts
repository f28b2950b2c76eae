import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { refuseField } from '#core/base/errors/errors.ts'
import { eachOf } from '#core/requests/input/all-of.ts'
import { requireItems } from '#core/requests/input/input-rules.ts'

/*
 * The network addresses from which a key may be used: single ones and ranges in CIDR notation. An IPv4 address is the same in the
 * IPv6 form that maps it.
 */

export const ALLOWED_ADDRESSES_MAX = 50

/** The address of a client as PostgreSQL reads it; empty for what is none, which no list allows. */
export function canonicalAddress(address: string): string {
  // Node takes only the form of IPv4 that is canonical.
  return isIP(address) === 4 ? address : (clientOf(address)?.toString() ?? '')
}

/** Whether the list allows the address; an empty list allows all. */
export function isAllowedAddress(allowed: readonly string[], address: string): boolean {
  if (allowed.length === 0) return true
  const client = clientOf(address)
  if (client === undefined) return false
  return allowed.some((entry) => {
    const [network, bits] = rangeOf(entry) ?? []
    return network !== undefined && network.kind() === client.kind() && client.match(network, bits)
  })
}

/** What a refused client is told, so that its owner sees what a proxy has made of its address. */
export function addressDetail(address: string): string {
  return `the request came from ${canonicalAddress(address) || 'no readable address'}, which the key does not allow.`
}

/** The same in SQL, for the columns of a key and the {@link canonicalAddress} `address` of a call. */
export const ADDRESS_DENIED = `cardinality(allowed_addresses) > 0
        AND (CASE WHEN address <> '' THEN address::inet <<= ANY (allowed_addresses::inet[]) END) IS NOT TRUE`

/**
 * Validates a list and returns it as it is stored: ranges begin at their first address, and mapped addresses are IPv4.
 *
 * @returns an empty list for null, which allows all addresses
 * @throws Problem `invalid_request` with all mistakes
 */
export function checkedAddresses(entries: readonly string[] | null): string[] {
  if (entries === null) return []
  requireItems(['allowedAddresses'], entries, ALLOWED_ADDRESSES_MAX)
  if (entries.length === 0)
    refuseField(['allowedAddresses'], `expected null or 1 to ${ALLOWED_ADDRESSES_MAX} entries.`)
  const stored: string[] = []
  eachOf(entries, (entry, index) => {
    // What is not a text was reported with the types.
    if (entry === undefined) return
    const range = rangeOf(entry)
    if (range === undefined)
      return refuseField(
        ['allowedAddresses', index],
        'expected an IPv4 or IPv6 address or a range of them, such as 192.0.2.7, 192.0.2.0/24 or 2001:db8::/32.',
      )
    stored.push(textOf(...range))
  })
  return [...new Set(stored)]
}

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Range = readonly [first: Address, bits: number]

/** Undefined for everything but the usual spellings: no octal, hexadecimal or missing parts of IPv4, and no zone of IPv6. */
function rangeOf(entry: string): Range | undefined {
  const [text = '', length, ...rest] = entry.split('/')
  if (rest.length > 0 || (length !== undefined && !/^(0|[1-9]\d{0,2})$/.test(length))) return undefined
  if (isIP(text) === 0 || text.includes('%')) return undefined
  const address = ipaddr.parse(text)
  const bitsMax = address.kind() === 'ipv4' ? 32 : 128
  const bits = length === undefined ? bitsMax : Number(length)
  if (bits > bitsMax) return undefined
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress())
    return bits < 96 ? undefined : [address.toIPv4Address(), bits - 96]
  return [address, bits]
}

function textOf(address: Address, bits: number): string {
  const whole = address.kind() === 'ipv4' ? 32 : 128
  const bytes = address.toByteArray().map((byte, index) => {
    const kept = Math.min(8, Math.max(0, bits - index * 8))
    return byte & (0xff << (8 - kept)) & 0xff
  })
  const first = ipaddr.fromByteArray(bytes).toString()
  return bits === whole ? first : `${first}/${bits}`
}

/** A proxy may forward text that is no address. The zone of a local address is a name on this machine. */
function clientOf(address: string): Address | undefined {
  return isIP(address) === 0 ? undefined : ipaddr.process(address.split('%', 1)[0] ?? '')
}
