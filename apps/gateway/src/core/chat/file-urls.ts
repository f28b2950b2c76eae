import { BlockList, isIPv4, isIPv6 } from 'node:net'

export const FILES_MAX = 20
const URL_CHARACTERS_MAX = 2048

/**
 * What is wrong with a file's URL, told as what was expected; undefined where nothing is. Checked as text, without DNS:
 * the gateway never fetches it, but a platform inside a private network would.
 */
export function fileUrlProblem(text: string): string | undefined {
  if (text.length > URL_CHARACTERS_MAX) return `a URL of at most ${URL_CHARACTERS_MAX} characters`
  // The platform gets the text: what the parser would mend, another may read as another host.
  if (!PLAIN_URL.test(text) || !URL.canParse(text)) return 'an http or https URL'
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') return 'a URL without credentials'
  if (isLocal(url.hostname)) return 'a publicly reachable URL'
  return undefined
}

const PLAIN_URL = /^https?:\/\/[^\s\\\p{Cc}]+$/iu

/** The URL parser has already turned every spelling of an IPv4 address (hex, octal, one number) into the dotted one. */
function isLocal(hostname: string): boolean {
  const host = hostname.replace(/\.$/, '')
  if (isIPv4(host)) return closed.check(host, 'ipv4')
  const address = host.startsWith('[') ? host.slice(1, -1) : undefined
  if (address !== undefined) return !isIPv6(address) || isClosedIpv6(address)
  return !host.includes('.') || LOCAL_NAME.test(host)
}

const LOCAL_NAME = /\.(?:localhost|local|localdomain|internal|intranet|private|corp|home|lan|home\.arpa)$/i

function isClosedIpv6(address: string): boolean {
  if (closed.check(address, 'ipv6')) return true
  const embedded = embeddedIpv4(address)
  return embedded !== undefined && closed.check(embedded, 'ipv4')
}

/** IPv4 inside IPv6: mapped, compatible, NAT64 and 6to4 addresses reach the IPv4 host. */
function embeddedIpv4(address: string): string | undefined {
  const words = expand(address)
  const [first = 0, second = 0, third = 0] = words
  const dotted = (high = 0, low = 0) => [high >> 8, high & 255, low >> 8, low & 255].join('.')
  if (first === 0x2002) return dotted(second, third)
  const isPlain = words.slice(0, 5).every((word) => word === 0) && (words[5] === 0 || words[5] === 0xffff)
  const isNat64 = first === 0x64 && second === 0xff9b
  return isPlain || isNat64 ? dotted(words[6], words[7]) : undefined
}

function expand(address: string): number[] {
  const [head = '', tail] = address.split('::')
  const words = (part: string) =>
    part === '' ? [] : part.split(':').map((word) => Number.parseInt(word, 16))
  if (tail === undefined) return words(head)
  const [left, right] = [words(head), words(tail)]
  return [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right]
}

/** Private, loopback, link-local, shared, multicast and reserved ranges (IANA special-purpose registries). */
const closed = new BlockList()
for (const range of [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/128',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
  '100::/64',
  '64:ff9b:1::/48',
]) {
  const [network = '', bits = ''] = range.split('/')
  closed.addSubnet(network, Number(bits), network.includes(':') ? 'ipv6' : 'ipv4')
}
