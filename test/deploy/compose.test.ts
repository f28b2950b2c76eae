import { connect } from 'node:net'
import { s3TestServer } from '@trunkline/gateway/src/core/uploads/storage/scratch-bucket.test-support.ts'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiOf } from '../support/api.ts'
import { readCompose, readEnvironmentFile } from '../support/compose.ts'
import {
  CONNECTIONS_PER_ADDRESS,
  PROXIES,
  startTopology,
  type Topology,
} from '../support/compose-topology.ts'
import { areInstalled } from '../support/installed-tools.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { query } from '../support/query.ts'
import { readerOf } from '../support/stream.ts'
import { until } from '../support/until.ts'
import { END_OF_FORM, formUpToFile, openUpload } from '../support/upload-client.ts'
import { sendFile, uploadFile } from '../support/uploads.ts'

// A process, because the description is of several programs: two gateways, a proxy and what they share.

const FILLED_IN = {
  ...readEnvironmentFile('.env.example'),
  POSTGRES_PASSWORD: 'passwordOfPostgres',
  S3_SECRET_KEY: 'secretOfTheBucket',
  SECRET_KEY: 'a secret of thirty-two characters or more',
  ADMIN_PASSWORD: 'correct horse battery',
  AGENT_URL: 'http://agents.example.com/v1',
  AGENT_MODEL: 'counting',
  AGENT_API_KEY: 'none',
}

describe('compose.yaml', () => {
  const gateways = ['gateway-a', 'gateway-b', 'migrate']

  test('starts nothing before every secret of .env.example is filled in', () => {
    const example = readEnvironmentFile('.env.example')
    const empty = Object.keys(example).filter((name) => example[name] === '')
    const required = empty.filter((name) => {
      try {
        return readCompose({ ...FILLED_IN, [name]: '' }) === undefined
      } catch {
        return true
      }
    })
    expect(required).toEqual(empty.filter((name) => name !== 'AGENT_API_KEY'))
    expect(JSON.stringify(readCompose(FILLED_IN))).not.toContain('${')
  })

  test.each(gateways)('gives %s as little as it needs', (name) => {
    expect(readCompose(FILLED_IN).services[name]).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      tmpfs: ['/tmp', '/data:uid=65532,gid=65532,mode=0700'],
    })
  })

  test('publishes no port but those of the proxy', () => {
    const { services } = readCompose(FILLED_IN)
    const published = Object.entries(services).flatMap(([name, { ports = [] }]) =>
      ports.map((port) => [name, port]),
    )
    expect(published).toEqual([
      ['proxy', '8080:8080'],
      ['proxy', '8081:8081'],
    ])
  })
})

const postgres = process.env.E2E_DATABASE_URL
const s3 = s3TestServer()

const canRun = areInstalled(['nginx', 'haproxy', 'redis-server'])

describe.skipIf(!postgres || s3 === undefined || !canRun)('what compose.yaml describes', () => {
  let platform: Platform
  let topology: Topology
  let key: string

  beforeAll(async () => {
    if (!postgres || s3 === undefined) return
    platform = await startPlatform()
    const variables = { ...FILLED_IN, AGENT_URL: platform.baseUrl }
    topology = await startTopology({ postgres, s3, variables, main: process.env.TEST_GATEWAY_MAIN ?? '' })
    const api = apiAt('nginx')
    const created = await api.createKey(await api.login(), { permissions: ['chat', 'upload'] })
    key = created.full_key
  })
  afterAll(async () => {
    await topology?.remove()
    await platform?.close()
  })

  const admin = { username: 'admin', password: FILLED_IN.ADMIN_PASSWORD }
  const apiAt = (proxy: (typeof PROXIES)[number]) => apiOf({ url: topology.proxies[proxy].publicUrl, admin })

  test('migrates before the gateways start, which count limits in Redis and keep their metrics to themselves', async () => {
    expect(topology.migrated.output).toMatch(/^Applied: \d+_baseline, /)
    const redis = new Redis(topology.redisUrl)
    expect(await redis.dbsize()).toBeGreaterThan(0)
    await redis.quit()
    expect((await apiAt('nginx').call('GET', '/metrics')).status).toBe(404)
  })

  describe.each(PROXIES)('behind %s', (proxy) => {
    const url = () => topology.proxies[proxy].publicUrl

    test('both gateways answer chats', async () => {
      const chat = async () => {
        const reply = await apiAt(proxy).chat(key, 'assistant', { app_id: '' })
        expect([reply.status, await reply.json()]).toMatchObject([
          200,
          { choices: [{ finish_reason: 'stop' }] },
        ])
        return reply.headers.get('x-call-id')
      }
      const ids = await Promise.all(Array.from({ length: 8 }, chat))
      const text = 'SELECT DISTINCT instance FROM calls WHERE id = ANY($1)'
      expect(await query(topology.databaseUrl, text, [ids])).toHaveLength(2)
    })

    test('a stream arrives piece by piece', async () => {
      platform.hold()
      const reader = readerOf(await apiAt(proxy).chat(key, 'assistant', { app_id: '', stream: true }))
      // The rest is sent only after this has arrived.
      await reader.until(/"content":"Counted"/)
      platform.release()
      expect(await reader.rest()).toMatch(/data: \[DONE\]\n\n$/)
    })

    test('a file of several megabytes is uploaded, and is read at the address for files alone', async () => {
      const content = Buffer.alloc(6_000_000, 'a line of text\n')
      const record = await uploadFile(url(), key, content, 'large.txt')
      expect(record.url).toMatch(new RegExp(`^${topology.proxies.nginx.filesUrl}/uploads/`))
      const { filesUrl } = topology.proxies[proxy]
      const address = record.url.replace(topology.proxies.nginx.filesUrl, filesUrl)
      const file = await fetch(address)
      expect([file.status, Buffer.from(await file.arrayBuffer()).equals(content)]).toEqual([200, true])
      expect(file.headers.get('content-security-policy')).toMatch(/^sandbox;/)

      const refused = [
        fetch(address, { method: 'DELETE' }),
        fetch(`${filesUrl}/`),
        fetch(`${filesUrl}/uploads/`),
        fetch(`${filesUrl}/uploads/%2e%2e/?list-type=2`),
      ]
      for (const { status } of await Promise.all(refused)) expect(status).toBeOneOf([403, 404])
      expect((await fetch(address)).status).toBe(200)
    })

    test('an upload reaches a gateway while its client is still sending', async () => {
      const upload = openUpload(url(), key)
      await upload.write(formUpToFile())
      await upload.write('the first line\n')
      await until('the upload is admitted', async () => {
        const text = "SELECT FROM calls WHERE kind = 'upload' AND outcome IS NULL"
        return (await query(topology.databaseUrl, text)).length === 1
      })
      await upload.write(END_OF_FORM)
      upload.end()
      expect((await upload.answer).status).toBe(200)
    })

    test('a file that is too large is refused by the gateway, in its own words', async () => {
      const response = await sendFile(url(), key, Buffer.alloc(50 * 1024 * 1024 + 1, 'a'))
      expect([response.status, await response.json()]).toMatchObject([413, { reason: 'body_too_large' }])
    })

    test('one address has a bounded number of connections, and another is answered meanwhile', async () => {
      const { hostname, port } = new URL(url())
      const head =
        'POST /api/v1/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{'
      const open = () => {
        const socket = connect({ port: Number(port), host: hostname, localAddress: '127.0.0.3' })
        let answer = 'waits'
        socket
          .on('error', () => undefined)
          .on('data', (data) => {
            answer = String(data)
          })
        socket.on('close', () => {
          if (answer === 'waits') answer = 'closed'
        })
        socket.write(head)
        return { socket, answer: () => answer }
      }
      const opened: ReturnType<typeof open>[] = []
      try {
        const refused = await until('one of many is refused', () => {
          // More than enough, also where a gateway gives up the first of them in the meantime.
          if (opened.length < 3 * CONNECTIONS_PER_ADDRESS) opened.push(...Array.from({ length: 20 }, open))
          return opened.find(({ answer }) => /^closed|^HTTP\/1\.1 429/.test(answer()))
        })
        expect(opened.length).toBeGreaterThan(CONNECTIONS_PER_ADDRESS)
        expect(refused.answer()).toMatch(proxy === 'nginx' ? /^HTTP\/1\.1 429 / : /^closed$/)
        expect((await apiAt(proxy).call('GET', '/docs')).status).toBe(200)
      } finally {
        for (const { socket } of opened) socket.destroy()
      }
    })

    test('a client cannot say which address it has', async () => {
      const id = `an-address-claimed-behind-${proxy}`
      const headers = { 'x-forwarded-for': '203.0.113.7', 'x-request-id': id }
      await apiAt(proxy).call('GET', '/api/v1/me', { headers })
      const logs = () => topology.gateways.map(({ output }) => output).join('')
      const line = new RegExp(`^.*"${id}".*$`, 'm')
      const logged = await until('the request is logged', () => logs().match(line)?.[0])
      expect(JSON.parse(logged)).toMatchObject({ address: '127.0.0.1' })
    })
  })
})
