import { expect, test } from 'vitest'
import { clientFileUrl, lacksFilesUrl, resolveFileUrl, trustedOrigin } from './resolve-file-url.ts'

const PUBLIC = { baseUrl: 'https://dify.example.com/v1' }
const PRIVATE = { baseUrl: 'http://10.0.0.5:8080/v1' }
const OWN = { ...PRIVATE, filesUrl: 'https://files.example.com/below' }

test.each([
  ['https://cdn.example.com/a.png?sign=x%2Fy#z', 'https://cdn.example.com/a.png?sign=x%2Fy#z'],
  ['HTTP://CDN.example.com/a.png', 'HTTP://CDN.example.com/a.png'],
  ['http://10.0.0.5/a.png', 'http://10.0.0.5/a.png'],
  [' https://cdn.example.com/a b.png ', 'https://cdn.example.com/a%20b.png'],
  ['https:\\\\cdn.example.com\\a.png', 'https://cdn.example.com/a.png'],
])('the absolute URL %s is %s, whatever the agent is', (url, resolved) => {
  for (const agent of [PUBLIC, PRIVATE, OWN]) expect(resolveFileUrl(url, agent)).toBe(resolved)
})

test.each([
  [
    '/files/a.png?sign=x',
    'https://dify.example.com/files/a.png?sign=x',
    'https://files.example.com/files/a.png?sign=x',
  ],
  ['files/a.png', 'https://dify.example.com/files/a.png', 'https://files.example.com/files/a.png'],
  ['../../etc/passwd', 'https://dify.example.com/etc/passwd', 'https://files.example.com/etc/passwd'],
  ['//cdn.example.com/a.png', 'https://cdn.example.com/a.png', 'https://cdn.example.com/a.png'],
])('the relative URL %s gets the origin of the files, or of a public base URL', (url, byBase, byFiles) => {
  expect([resolveFileUrl(url, PUBLIC), resolveFileUrl(url, OWN)]).toEqual([byBase, byFiles])
})

test.each([
  'http://localhost:8080',
  'http://dify',
  'http://dify.internal/v1',
  'http://192.168.1.2',
  'http://[fd00::1]/v1',
  'http://2130706433/v1',
])('a relative URL has no address where the base URL is %s, until filesUrl is set', (baseUrl) => {
  expect([resolveFileUrl('/a.png', { baseUrl }), lacksFilesUrl('/a.png', { baseUrl })]).toEqual([
    undefined,
    true,
  ])
  const agent = { baseUrl, filesUrl: baseUrl }
  expect(resolveFileUrl('/a.png', agent)).toBe(`${new URL(baseUrl).origin}/a.png`)
  expect(lacksFilesUrl('/a.png', agent)).toBe(false)
})

test.each([
  'data:image/png;base64,AAAA',
  'ftp://x.example.com/a',
  'javascript:alert(1)',
  'file:///etc/passwd',
  '',
  ' ',
])('the URL %j is none of a file, and no setting would help', (url) => {
  for (const agent of [PUBLIC, PRIVATE, OWN])
    expect([resolveFileUrl(url, agent), lacksFilesUrl(url, agent)]).toEqual([undefined, false])
})

test.each([
  ['https://ada:secret@cdn.example.com/a.png', 'https://cdn.example.com/a.png'],
  ['//ada:secret@cdn.example.com/a.png', 'https://cdn.example.com/a.png'],
  ['https:ada:secret@cdn.example.com/a.png', 'https://cdn.example.com/a.png'],
])('clients get %s without its credentials', (url, shown) => {
  expect(clientFileUrl(url, PUBLIC)).toBe(shown)
})

test.each(['http://10.0.0.5/a.png', 'http://minio:9000/a.png', 'http://[fd00::1]/a.png'])(
  'clients get the private address %s only where the entry has one',
  (url) => {
    const files = { baseUrl: PUBLIC.baseUrl, filesUrl: 'https://files.example.com' }
    for (const agent of [PUBLIC, files])
      expect([clientFileUrl(url, agent), lacksFilesUrl(url, agent)]).toEqual([undefined, true])
    const inside = { ...PUBLIC, filesUrl: 'http://minio:9000' }
    for (const agent of [PRIVATE, OWN, inside])
      expect([clientFileUrl(url, agent), lacksFilesUrl(url, agent)]).toEqual([url, false])
  },
)

test('only an origin that the operator has named is trusted', () => {
  const { filesUrl } = OWN
  expect([trustedOrigin({}), trustedOrigin({ filesUrl })]).toEqual([undefined, 'https://files.example.com'])
})
