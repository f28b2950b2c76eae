import { afterEach, describe, expect, test } from 'vitest'
import { LOOPBACK_HOSTS, loopbackUrls, words } from '#core/requests/input/loopback-urls.test-support.ts'
import { setPrivateAddresses } from '#core/requests/input/public-host.ts'
import { CHECKED_URLS_MAX, FILES_MAX, fileUrlProblem, findRefusedUrl, RequestUrls } from './file-urls.ts'

const SEARCH = { problemOf: fileUrlProblem }

test.each([
  'https://files.example.com/a.pdf',
  'http://files.example.com:8080/a%20b.pdf?x=1#y',
  'https://8.8.8.8/a.png',
  'https://134744072/a.png',
  'https://[2606:4700:4700::1111]/a.png',
  'https://[2606:4700:4700:0:0:0:0:1111]/a.png',
  'https://[2a00:1450:4001:830::200e]/a.png',
  'https://例え.jp/ファイル.pdf',
  'https://localhost.example.com/',
  'https://svc.example.com/',
  'https://1.2.3.4.example.com/',
  'https://files.example.com./a.pdf',
])('a file at the URL %s may be attached', (url) => {
  expect(fileUrlProblem(url)).toBeUndefined()
})

test.each([
  ['', 'an http or https URL'],
  ['a.pdf', 'an http or https URL'],
  ['//files.example.com/a.pdf', 'an http or https URL'],
  ['ftp://files.example.com/a.pdf', 'an http or https URL'],
  ['file:///etc/passwd', 'an http or https URL'],
  ['data:text/plain,x', 'an http or https URL'],
  ['javascript:alert(1)', 'an http or https URL'],
  ['https://', 'an http or https URL'],
  // What this parser repairs, another parser may read as a different host.
  ['https:files.example.com/a.pdf', 'an http or https URL'],
  [' https://files.example.com/a.pdf', 'an http or https URL'],
  ['https://files.example.com/a b.pdf', 'an http or https URL'],
  ['https://files.example.com\\@10.0.0.1/a.pdf', 'an http or https URL'],
  ['https://files.exa\nmple.com/a.pdf', 'an http or https URL'],
  ['https://user@files.example.com/', 'a URL without credentials'],
  ['https://user:password@files.example.com/', 'a URL without credentials'],
  [`https://files.example.com/${'a'.repeat(2048)}`, 'a URL of at most 2048 characters'],
  [`https://${'a'.repeat(60)}.${'b.'.repeat(97)}`, 'a URL whose host has at most 253 characters'],
  [`https://${'.'.repeat(2000)}/a.pdf`, 'a URL whose host has at most 253 characters'],
  // 250 characters here, and more than 253 in ASCII.
  [`https://${'ä.'.repeat(125)}`, 'a URL whose host has at most 253 characters'],
])('a file at the URL %s is rejected: expected %s', (url, expected) => {
  expect(fileUrlProblem(url)).toBe(expected)
})

const LOCAL_HOSTS = {
  ...LOOPBACK_HOSTS,
  'names without a dot': ['localhost', 'LOCALHOST', 'localhost.', 'localhost..', 'files', 'intranet'],
  'local names': words(
    'files.localhost files.localdomain files.local metadata.google.internal',
    'files.intranet files.private files.corp files.home printer.lan',
    'kubernetes.default.svc kubernetes.default.svc.cluster.local nas.home.arpa',
  ),
  'local names with dots at their end, or in other letters': words(
    'metadata.google.internal. kubernetes.default.svc. a.localhost... Files.LAN',
    'files.ｌｏｃａｌ files%2elocal',
  ),
  'IPv4 of every range that is not public': words(
    '0.0.0.0 10.1.2.3 100.64.0.1 168.63.129.16 169.254.169.254 172.16.0.1',
    '172.31.255.255 192.0.0.1 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1',
    '198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255',
  ),
  'IPv6 of every range that is not public': words(
    '[::] [::1] [0:0:0:0:0:0:0:1] [::2] [100::1] [4000::1] [fc00::1] [fdab::1]',
    '[fe80::1] [fec0::1] [ff02::1] [2001:2::1] [2001:db8::1] [3fff::1] [5f00::1]',
  ),
  'IPv6 around IPv4, whatever address that is': words(
    '[::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:8.8.8.8] [::127.0.0.1]',
    '[::ffff:0:127.0.0.1] [64:ff9b::127.0.0.1] [64:ff9b::8.8.8.8] [64:ff9b:1::8.8.8.8]',
    '[2002:7f00:1::] [2002:808:808::1] [2001:0:7f00:1::] [2001::1]',
  ),
}

test.each(Object.entries(LOCAL_HOSTS))('hosts that are %s are not public', (_kind, hosts) => {
  const passing = hosts.filter(
    (host) => fileUrlProblem(`http://${host}/a.pdf`) !== 'a publicly reachable URL',
  )
  expect(passing).toEqual([])
  // Neither the scheme nor a port makes a difference.
  const withPort = hosts.filter((host) => fileUrlProblem(`HTTPS://${host}:8443`) === undefined)
  expect(withPort).toEqual([])
})

describe('of the addresses that the operator calls private', () => {
  const configured = ['192.5.6.0/24', '8.8.4.4', '2001:470:1f0b::/48', '2a00:1450::1', '::ffff:9.9.9.0/120']
  const inside = [
    ...['192.5.6.7', '0xc0050607', '192.5.6.255.', '8.8.4.4', '9.9.9.1', '168.63.129.16', '10.0.0.1'],
    ...['[2001:470:1f0b::1]', '[2001:470:1f0b:ffff::]', '[2a00:1450::1]', '[::ffff:192.5.6.7]'],
  ]
  const outside = ['192.5.7.0', '8.8.8.8', '9.9.8.255', '[2001:470:1f0c::1]', '[2a00:1450::2]']
  const refused = (hosts: readonly string[]) =>
    hosts.filter((host) => fileUrlProblem(`https://${host}/a`) === 'a publicly reachable URL')

  afterEach(() => setPrivateAddresses([]))

  test('no file is accepted, in any notation, and the others stay public', () => {
    setPrivateAddresses(configured)
    expect(refused(inside)).toEqual(inside)
    expect(refused(outside)).toEqual([])
  })
})

test('no spelling of this machine passes in any field for URLs', () => {
  const urls = loopbackUrls(8080)
  expect(new Set(urls).size).toBeGreaterThan(90)
  expect(urls.filter((url) => fileUrlProblem(url) === undefined)).toEqual([])
  expect(urls.filter((url) => findRefusedUrl({ file: [url] }, ['top'], SEARCH) === undefined)).toEqual([])
})

test('the first URL that is not public is found at any depth, in any field and in any form', () => {
  for (const url of [
    'http://10.0.0.1/',
    ' http://10.0.0.1/ and more',
    'HTTP:/10.0.0.1',
    '//10.0.0.1',
    'file:/etc/passwd',
    'gopher://x.example.com',
    'go\tpher:/\n/x.example.com',
    'h\r\nt\ttps:/10.0.0.1',
  ]) {
    expect(
      findRefusedUrl({ a: ['https://x.example.com', { whatever: url }] }, ['top'], SEARCH),
      url,
    ).toMatchObject({
      field: ['top', 'a', 1, 'whatever'],
    })
  }
})

test('public URLs, data URLs and texts that merely contain a URL are accepted', () => {
  const value = [
    'https://x.example.com/a b',
    'data:image/png;base64,AAAA',
    'see http://10.0.0.1',
    'C:\\a',
    'note: x',
    7,
    null,
  ]
  expect(findRefusedUrl({ value }, ['top'], SEARCH)).toBeUndefined()
})

test('fields that are only read as text are skipped', () => {
  const value = { text: 'http://10.0.0.1', deeper: [{ text: 'http://10.0.0.1' }] }
  expect(findRefusedUrl(value, ['top'], { ...SEARCH, isText: (name) => name === 'text' })).toBeUndefined()
})

test.each([
  ['base64', 'A'.repeat(5_000_000)],
  ['tabs', '\t'.repeat(5_000_000)],
  ['tabs within a scheme', `http${'\t'.repeat(5_000_000)}`],
  ['tabs after a scheme', `http:${'\t'.repeat(5_000_000)}`],
  ['tabs within any scheme', `a${'\t'.repeat(5_000_000)}b`],
  ['letters and tabs', 'a\t'.repeat(2_500_000)],
  ['tabs within slashes', `/${'\t'.repeat(5_000_000)}/`],
])('a long text of %s takes no long search', (_what, text) => {
  const before = process.threadCpuUsage()
  expect(findRefusedUrl(text, ['top'], SEARCH)).toBeUndefined()
  // Of this thread alone, whatever else the machine does: the time that has passed would include that.
  expect(process.threadCpuUsage(before).user).toBeLessThan(2_000_000)
})

describe('the URLs of one request', () => {
  const ISSUED = 'http://127.0.0.1:8080/files/'
  const outside = (at: number) => `https://files.example.com/${at}`
  const watched = () => {
    const looks: string[] = []
    const urls = new RequestUrls((url) => {
      looks.push(url)
      return url.startsWith(ISSUED)
    })
    return { urls, looks }
  }

  test(`are at most ${CHECKED_URLS_MAX}, and a repetition is not looked at again`, () => {
    const { urls, looks } = watched()
    const sent = Array.from({ length: CHECKED_URLS_MAX }, (_, at) => outside(at))
    expect([...sent, ...sent].map((url) => urls.fileProblemOf(url)).filter(Boolean)).toEqual([])
    expect(looks).toEqual(sent)
    expect(urls.fileProblemOf(outside(CHECKED_URLS_MAX))).toBe(`at most ${CHECKED_URLS_MAX} URLs of files`)
    expect(urls.fileProblemOf(outside(0))).toBeUndefined()
  })

  test('may be of any length where the gateway issued them, which are at most 20 besides the others', () => {
    const { urls } = watched()
    for (let at = 0; at < CHECKED_URLS_MAX; at += 1) urls.fileProblemOf(outside(at))
    const issued = Array.from({ length: FILES_MAX }, (_, at) => `${ISSUED}${at}/${'a'.repeat(5_000)}`)
    expect([...issued, ...issued].map((url) => urls.fileProblemOf(url)).filter(Boolean)).toEqual([])
    expect(urls.fileProblemOf(`${ISSUED}next`)).toBe(`at most ${FILES_MAX} uploaded files`)
  })

  test('are judged like those of others where the platform gets them as they are', () => {
    const { urls } = watched()
    expect(urls.fileProblemOf(ISSUED)).toBeUndefined()
    expect(urls.problemOf(ISSUED)).toBe('a publicly reachable URL')
  })
})
