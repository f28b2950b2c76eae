import { once } from 'node:events'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Agent } from '#core/agents/adapter.ts'
import { agentOf } from '#core/agents/transcripts.test-support.ts'
import { selfSigned } from '#core/agents/upstream/self-signed.test-support.ts'
import { LOOPBACK_HOSTS } from '#core/requests/input/loopback-urls.test-support.ts'
import { createFileFetcher, type FileFetcher } from './fetch-file.ts'
import {
  type FileServer,
  type Internet,
  openInternet,
  PUBLIC_ADDRESS,
  startFileServer,
} from './internet.test-support.ts'
import { NotKept } from './not-kept.ts'

const BYTES_MAX = 1_000

let internet: Internet
/** A server with a public address and the name cdn.example.com. */
let cdn: FileServer
/** A server inside the network of the gateway. */
let inside: FileServer
let fetcher: FileFetcher

beforeEach(async () => {
  internet = openInternet()
  internet.names.set('cdn.example.com', [[PUBLIC_ADDRESS]])
  cdn = await startFileServer()
  inside = await startFileServer()
  cdn.answer = inside.answer = (_request, response) => response.end('content')
  fetcher = createFileFetcher(internet.lookups)
})
afterEach(async () => {
  await fetcher.close()
  await Promise.all([cdn.close(), inside.close()])
  internet.close()
})

const urlOf = (path = '/a.png', host = 'cdn.example.com') => `http://${host}:${cdn.port}${path}`

/** The machine may be busy while a connection is made. */
const TIMEOUTS = { connectMs: 30_000, firstByteMs: 1, idleMs: 1, totalMs: 1 }

function fetchFrom(url: string, more: Partial<Agent> = {}, signal = new AbortController().signal) {
  return fetcher.fetch(url, agentOf('dify', { timeouts: TIMEOUTS, ...more }), BYTES_MAX, signal)
}

async function read(url: string, more: Partial<Agent> = {}): Promise<string> {
  const file = await fetchFrom(url, more)
  try {
    return String(await buffer(file.body))
  } finally {
    file.close()
  }
}

async function reasonOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => new Error('It was fetched.'),
    (reason: unknown) => reason,
  )
  return error instanceof NotKept ? error.reason : String(error)
}

test('a public file is fetched without credentials, and without an encoding', async () => {
  expect(await read(urlOf('/a.png?sign=x#top'))).toBe('content')
  const [request] = cdn.requests
  expect([request?.method, request?.url]).toEqual(['GET', '/a.png?sign=x'])
  expect(request?.headers).toEqual({
    host: `cdn.example.com:${cdn.port}`,
    connection: 'keep-alive',
    accept: '*/*',
    'accept-encoding': 'identity',
  })
})

describe('addresses', () => {
  afterEach(() => expect(inside.connections).toBe(0))

  test.each(Object.entries(LOOPBACK_HOSTS))('this machine is not reached by %s', async (_kind, hosts) => {
    // Every name leads inside, also those that parsers of URLs do not take for local ones.
    for (const host of hosts) internet.names.set(host.toLowerCase(), [['127.0.0.1', '::1']])
    for (const host of hosts) {
      const reason = await reasonOf(read(`http://${host}:${inside.port}/`))
      expect(['private_address', 'no_http_url', 'unreachable'], host).toContain(reason)
    }
    expect(internet.connected).toEqual([])
  })

  test.each([
    'http://2130706433',
    'http://0x7f.1',
    'http://169.254.169.254',
    'http://168.63.129.16',
    'http://[::ffff:127.0.0.1]',
    'http://[64:ff9b::7f00:1]',
    'http://[2002:7f00:1::]',
    'http://[fd00::1]',
    'http://[fe80::1]',
  ])('%s is refused before a connection, also after a redirect', async (origin) => {
    const target = `${origin}:${inside.port}/`
    expect(await reasonOf(read(target))).toBe('private_address')
    cdn.answer = (_request, response) => response.writeHead(302, { location: target }).end()
    expect(await reasonOf(read(urlOf()))).toBe('private_address')
    expect(internet.asked).toEqual(['cdn.example.com'])
  })

  test.each([
    '127.0.0.1',
    '10.0.0.1',
    '169.254.169.254',
    '168.63.129.16',
    '100.64.0.1',
    '0.0.0.0',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:198.41.0.4',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    'fd00::1',
    'fe80::1%lo',
  ])('a name with the address %s is not connected to', async (address) => {
    internet.names.set('rebind.example.com', [[address]])
    expect(await reasonOf(read(`http://rebind.example.com:${inside.port}/`))).toBe('private_address')
    expect(internet.connected).toEqual([])
  })

  test('of a name with public and private addresses only the public ones are connected to', async () => {
    internet.names.set('both.example.com', [['127.0.0.1', '::1', PUBLIC_ADDRESS, '10.0.0.1']])
    expect(await read(urlOf('/', 'both.example.com'))).toBe('content')
    expect(internet.connected).toEqual([PUBLIC_ADDRESS])
  })

  test('a name server that changes its answer gains nothing, since the address is looked up once and that one is checked', async () => {
    internet.names.set('rebind.example.com', [[PUBLIC_ADDRESS], ['127.0.0.1']])
    cdn.answer = (_request, response) => response.writeHead(200, { connection: 'close' }).end('content')
    expect(await read(urlOf('/', 'rebind.example.com'))).toBe('content')
    expect(internet.asked).toEqual(['rebind.example.com'])
    expect(await reasonOf(read(urlOf('/', 'rebind.example.com')))).toBe('private_address')
    expect(internet.connected).toEqual([PUBLIC_ADDRESS])
  })

  test('a redirect to a name inside is refused, and so is one to another scheme or with credentials', async () => {
    internet.names.set('inside.example.com', [['127.0.0.1']])
    const reasons: string[] = []
    for (const location of [
      `http://inside.example.com:${inside.port}/`,
      'file:///etc/passwd',
      'ftp://cdn.example.com/',
      `http://user:password@cdn.example.com:${cdn.port}/`,
      'http://',
    ]) {
      cdn.answer = (request, response) => {
        if (request.url === '/a.png') response.writeHead(307, { location }).end()
        else response.end('content')
      }
      reasons.push(await reasonOf(read(urlOf())))
    }
    expect(reasons).toEqual(['private_address', ...Array(4).fill('no_http_url')])
  })

  test('names inside are no public ones, whatever their addresses', async () => {
    for (const host of ['cdn', 'cdn.internal', 'cdn.svc.cluster.local'])
      internet.names.set(host, [[PUBLIC_ADDRESS]])
    for (const host of internet.names.keys()) {
      if (host === 'cdn.example.com') continue
      expect(await reasonOf(read(urlOf('/', host))), host).toBe('private_address')
    }
  })
})

describe('URLs', () => {
  test.each([
    ['of another scheme', 'ftp://cdn.example.com/a.png'],
    ['with its content', 'data:image/png;base64,AAAA'],
    ['of a local file', 'file:///etc/passwd'],
    ['without an origin', '/a.png'],
    ['with a user and a password', 'http://user:password@cdn.example.com/a.png'],
    ['with a user', 'http://user@cdn.example.com/a.png'],
    ['with more than 8,192 characters', `http://cdn.example.com/${'a'.repeat(8_192)}`],
  ])('one %s is not fetched', async (_what, url) => {
    expect(await reasonOf(read(url))).toBe('no_http_url')
    expect(internet.asked).toEqual([])
  })
})

describe('the origin of filesUrl', () => {
  test('is reached although it is private, and nothing else is', async () => {
    const filesUrl = `${inside.origin}/below`
    expect(await read(`${inside.origin}/a.png`, { filesUrl })).toBe('content')
    const other = await startFileServer()
    expect(await reasonOf(read(`${other.origin}/a.png`, { filesUrl }))).toBe('private_address')
    inside.answer = (_request, response) =>
      response.writeHead(302, { location: `${other.origin}/a.png` }).end()
    expect(await reasonOf(read(`${inside.origin}/a.png`, { filesUrl }))).toBe('private_address')
    expect([other.connections, inside.connections > 0]).toEqual([0, true])
    await other.close()
  })

  test('may be a name inside, to which a public URL may redirect', async () => {
    internet.names.set('files.internal', [['127.0.0.1']])
    const filesUrl = `http://files.internal:${inside.port}`
    cdn.answer = (_request, response) => response.writeHead(301, { location: `${filesUrl}/a.png` }).end()
    expect(await read(urlOf(), { filesUrl })).toBe('content')
  })

  test('is trusted with the certificate authority of the agent', async () => {
    const { cert, key } = selfSigned('files.internal')
    const server = createTlsServer({ cert, key }, (_request, response) => response.end('secret'))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    internet.names.set('files.internal', [['127.0.0.1']])
    const filesUrl = `https://files.internal:${(server.address() as AddressInfo).port}`
    expect(await reasonOf(read(`${filesUrl}/a.png`, { filesUrl }))).toBe('unreachable')
    const connection = { names: 'dns', ca: cert } as const
    expect(await read(`${filesUrl}/a.png`, { filesUrl, connection })).toBe('secret')
    await fetcher.close()
    server.close()
    server.closeAllConnections()
  })

  test('is all that is fetched through a proxy, which would look up names by itself', async () => {
    const proxy = await startFileServer()
    proxy.answer = (_request, response) => response.end('content')
    const agent = {
      connection: { names: 'dns', proxy: proxy.origin },
      filesUrl: 'http://files.internal',
    } as const
    expect(await reasonOf(read(urlOf(), agent))).toBe('behind_proxy')
    expect([proxy.connections, cdn.connections]).toEqual([0, 0])
    expect(await read('http://files.internal/a.png', agent)).toBe('content')
    expect(proxy.requests.map(({ url }) => url)).toEqual(['http://files.internal/a.png'])
    expect(internet.asked).toEqual([])
    await proxy.close()
  })
})

describe('answers', () => {
  test('three redirects are followed, and not four', async () => {
    cdn.answer = (request, response) => {
      const left = Number(request.url?.slice(1))
      if (left === 0) response.end('content')
      else response.writeHead(308, { location: `/${left - 1}`, 'set-cookie': 'a=b' }).end('moved')
    }
    expect(await read(urlOf('/3'))).toBe('content')
    expect(cdn.requests.map(({ headers }) => [headers.cookie, headers.referer])).toEqual(
      Array(4).fill([undefined, undefined]),
    )
    expect(await reasonOf(read(urlOf('/4')))).toBe('bad_response')
  })

  test.each([204, 206, 304, 401, 404, 500])('the status %i is no file', async (status) => {
    cdn.answer = (_request, response) => response.writeHead(status).end()
    expect(await reasonOf(read(urlOf()))).toBe('bad_response')
  })

  test.each(['gzip', 'GZIP', 'br', 'identity, gzip', 'x'])(
    'the encoding %s is refused unread',
    async (encoding) => {
      const bomb = gzipSync(Buffer.alloc(1_000_000))
      cdn.answer = (_request, response) => response.writeHead(200, { 'content-encoding': encoding }).end(bomb)
      expect(await reasonOf(read(urlOf()))).toBe('bad_response')
    },
  )

  test('an announced length beyond the bound is refused unread', async () => {
    cdn.answer = (_request, response) => {
      response.writeHead(200, { 'content-length': BYTES_MAX + 1 })
      response.flushHeaders()
    }
    expect(await reasonOf(read(urlOf()))).toBe('body_too_large')
  })

  test('a body that is shorter than announced fails', async () => {
    cdn.answer = (_request, response) => {
      response.writeHead(200, { 'content-length': 100 })
      response.write('content', () => response.destroy())
    }
    const file = await fetchFrom(urlOf())
    await expect(buffer(file.body)).rejects.toThrow()
    expect(file.problemOf(new Error('any'))).toMatchObject({ reason: 'unreachable' })
  })

  test('a name that does not exist, and a server that closes the connection', async () => {
    expect(await reasonOf(read(urlOf('/', 'none.example.com')))).toBe('unreachable')
    cdn.answer = (_request, response) => response.destroy()
    expect(await reasonOf(read(urlOf()))).toBe('unreachable')
  })

  test('an abort ends the request and the body, and closes the connection', async () => {
    const ended = Promise.withResolvers<void>()
    cdn.answer = (_request, response) => {
      response.on('close', () => ended.resolve())
      response.writeHead(200)
      response.write('begin')
    }
    const controller = new AbortController()
    const file = await fetchFrom(urlOf(), {}, controller.signal)
    const reading = buffer(file.body)
    controller.abort(new Error('over'))
    await expect(reading).rejects.toThrow('over')
    await ended.promise
    await expect(fetchFrom(urlOf(), {}, controller.signal)).rejects.toThrow('over')
  })

  test('the end of a body that nobody reads closes the connection', async () => {
    const ended = Promise.withResolvers<void>()
    cdn.answer = (_request, response) => {
      response.on('close', () => ended.resolve())
      response.writeHead(200)
      response.write('begin')
    }
    const file = await fetchFrom(urlOf())
    file.close()
    await ended.promise
  })
})
