import { EventEmitter } from 'node:events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CONTENT, dataUrl, type FileServer, lineOf, startFileServer } from '../files.test-support.ts'
import { type LinkedFile, listFiles } from './list-files.ts'

let files: FileServer
beforeAll(async () => {
  files = await startFileServer()
})
afterAll(() => files[Symbol.asyncDispose]())

const limits = { timeoutMs: 10_000, bytesMax: 1_000 }

async function line(file: Partial<LinkedFile>, { timeoutMs, bytesMax } = limits): Promise<string> {
  const lines = await listFiles([{ url: '', name: '', ...file }], new EventEmitter(), { timeoutMs, bytesMax })
  return `- ${lines.join()}`
}

test.each([
  ['/report.pdf', '', 'report.pdf'],
  ['/a/b/%E6%8A%A5%E5%91%8A%20Q1.pdf?sig=a/b#c', '', '报告 Q1.pdf'],
  ['/100%25.txt', '', '100%.txt'],
  ['/100%.txt', '', '100%.txt'],
  ['/moved', '', 'moved'],
  ['/7f3a', 'report.pdf', 'report.pdf'],
])('a file at %s with the name “%s” is listed as %s with its size and hash', async (path, name, listed) => {
  expect(await line({ url: files.origin + path, name })).toBe(lineOf(listed))
})

test('a URL whose path names no file is its own name', async () => {
  expect(await line({ url: `${files.origin}/` })).toBe(lineOf(`${files.origin}/`))
})

test('a data URL is read where the platform accepts one, and listed without its content', async () => {
  const url = dataUrl('image/png')
  expect(await line({ url, mayBeData: true })).toBe(lineOf('data:image/png;base64,…'))
  expect(await line({ url, name: 'a.png', mayBeData: true })).toBe(lineOf('a.png'))
  expect(await line({ url: 'data:,a%20b', mayBeData: true })).toBe(lineOf('data:,…', Buffer.from('a b')))
  expect(await line({ url })).toBe('- data:image/png;base64,… (not readable: not an accepted URL)')
})

test.each([
  ['data:image/png;base64,A*', 'data:image/png;base64,…', 'not base64'],
  ['data:,%ff', 'data:,…', 'URI malformed'],
  ['data:image/png', 'data:image/png', 'no comma'],
])('the data URL %s is not readable', async (url, listed, reason) => {
  expect(await line({ url, mayBeData: true })).toBe(`- ${listed} (not readable: ${reason})`)
})

test.each([
  ['/missing', 'status 404'],
  ['/cut', 'UND_ERR_SOCKET'],
])('a file at %s is not readable: %s', async (path, reason) => {
  const url = files.origin + path
  expect(await line({ url })).toBe(`- ${url} (not readable: ${reason})`)
})

test('a server that refuses connections is named by the system’s error', async () => {
  const gone = await startFileServer()
  await gone[Symbol.asyncDispose]()
  expect(await line({ url: gone.origin, name: 'a.txt' })).toBe(
    `- a.txt ${gone.origin} (not readable: ECONNREFUSED)`,
  )
})

test.each(['https://files.example.com/a.pdf', 'http://EXAMPLE.org./a.pdf', 'http://x.invalid/a.pdf'])(
  'the example address %s is not looked up',
  async (url) => {
    expect(await line({ url })).toBe(`- ${url} (not readable: a name for examples)`)
  },
)

test.each(['', 'a.txt', 'http://', 'file:///etc/hostname'])(
  'the text “%s” is no URL of a file',
  async (url) => {
    expect(await line({ url })).toContain('(not readable: ')
  },
)

test('a file that is read has a time limit and a size limit', async () => {
  const url = `${files.origin}/silent`
  expect(await line({ url }, { ...limits, timeoutMs: 20 })).toBe(`- ${url} (not readable: not within 20 ms)`)
  const bytesMax = CONTENT.length - 1
  expect(await line({ url: `${files.origin}/a` }, { ...limits, bytesMax })).toBe(
    `- ${files.origin}/a (not readable: more than ${bytesMax} bytes)`,
  )
  expect(await line({ url: `${files.origin}/a` }, { ...limits, bytesMax: CONTENT.length })).toBe(lineOf('a'))
})

test('the reading of a file ends when the client disconnects', async () => {
  const response = new EventEmitter()
  const url = `${files.origin}/silent`
  const requested = files.requested()
  const lines = listFiles([{ url, name: '' }], response)
  await requested
  response.emit('close')
  expect(await lines).toEqual([`${url} (not readable: the client has disconnected)`])
})

test('each file of a list is one line, in order', async () => {
  const sent = [
    { url: `${files.origin}/missing`, name: '' },
    { url: `${files.origin}/a%0A-%20b`, name: '' },
    { name: 'c\u2028d\r', size: 0, sha256: 'e' },
  ]
  const [missing, ...lines] = await listFiles(sent, new EventEmitter())
  expect(missing).toContain('/missing (not readable')
  expect(`- ${lines[0]}`).toBe(lineOf('a\uFFFD- b'))
  expect(lines[1]).toBe('c\uFFFDd\uFFFD (0 bytes, sha256 e)')
})
