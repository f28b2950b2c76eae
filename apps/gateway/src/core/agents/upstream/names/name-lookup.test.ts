import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { LookupFunction } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type DnsServer, startDnsServer } from './dns-server.test-support.ts'
import { createNameLookup } from './name-lookup.ts'

const NAME = 'platform.example'

let folder: string
let hostsFile: string
let resolverConfigFile: string
let server: DnsServer
let nowMs: number
let lookup: LookupFunction

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'names-'))
  hostsFile = join(folder, 'hosts')
  resolverConfigFile = join(folder, 'resolv.conf')
  server = await startDnsServer({ [NAME]: { A: ['192.0.2.1'] } })
  writeFileSync(hostsFile, '127.0.0.9 in-hosts.example\n')
  writeFileSync(resolverConfigFile, `nameserver ${server.address}\n`)
  nowMs = 0
  lookup = create()
})
afterEach(async () => {
  await server.close()
  rmSync(folder, { recursive: true })
})

function create({ hostname = 'own-name' } = {}): LookupFunction {
  return createNameLookup({ hostsFile, resolverConfigFile, hostname, elapsedMs: () => nowMs })
}

/** As undici asks. */
function find(name = NAME, family?: number, own = lookup): Promise<string[]> {
  return new Promise((resolve, reject) => {
    own(name, { all: true, hints: 32, ...(family !== undefined && { family }) }, (error, addresses) => {
      if (error !== null) reject(error)
      else if (typeof addresses === 'string') reject(new Error('expected a list'))
      else resolve(addresses.map(({ address }) => address))
    })
  })
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'found',
    (error) => error.code,
  )

describe('what needs no name server', () => {
  beforeEach(() => {
    server.isSilent = true
  })

  test('names of the hosts file, in any case and with the dot of the root', async () => {
    expect(await find('in-hosts.example')).toEqual(['127.0.0.9'])
    expect(await find('In-Hosts.Example.')).toEqual(['127.0.0.9'])
    expect(server.queries).toEqual([])
  })

  test('a changed hosts file is read within a second, whether it was rewritten or replaced', async () => {
    expect(await find('in-hosts.example')).toEqual(['127.0.0.9'])
    writeFileSync(hostsFile, '127.0.0.10 in-hosts.example\n127.0.0.11 new.example\n')
    expect(await find('in-hosts.example')).toEqual(['127.0.0.9'])
    nowMs += 1_000
    expect([await find('in-hosts.example'), await find('new.example')]).toEqual([
      ['127.0.0.10'],
      ['127.0.0.11'],
    ])
    writeFileSync(`${hostsFile}~`, '127.0.0.12 in-hosts.example\n127.0.0.13 new.example\n')
    renameSync(`${hostsFile}~`, hostsFile)
    nowMs += 1_000
    expect(await find('in-hosts.example')).toEqual(['127.0.0.12'])
  })

  test('localhost and literal addresses, without any file', async () => {
    rmSync(hostsFile)
    rmSync(resolverConfigFile)
    expect(await find('localhost')).toEqual(['127.0.0.1', '::1'])
    expect(await find('App.localhost')).toEqual(['127.0.0.1', '::1'])
    expect(await find('192.0.2.7')).toEqual(['192.0.2.7'])
    expect(await find('::1')).toEqual(['::1'])
  })

  test('the own name: the addresses of the network, then the loopback, unless the hosts file has it', async () => {
    const own = await find('own-name')
    expect(own).toEqual(expect.arrayContaining(['127.0.0.1', '::1']))
    const known = Object.values(networkInterfaces()).flatMap((list) => list?.map(({ address }) => address))
    expect(known).toEqual(expect.arrayContaining(own))
    writeFileSync(hostsFile, '127.0.1.1 own-name\n')
    expect(await find('own-name', undefined, create())).toEqual(['127.0.1.1'])
  })
})

describe('forms of answers', () => {
  beforeEach(() => {
    server.names.set(NAME, { A: ['192.0.2.1', '192.0.2.2', '192.0.2.3'], AAAA: ['2001:db8::1'] })
  })

  test('both families are asked at once, and their addresses alternate', async () => {
    const hold = Promise.withResolvers<void>()
    server.held.set(`A ${NAME}`, hold)
    server.held.set(`AAAA ${NAME}`, hold)
    const found = find()
    await Promise.all([server.asked(`A ${NAME}`), server.asked(`AAAA ${NAME}`)])
    hold.resolve()
    expect(await found).toEqual(['192.0.2.1', '2001:db8::1', '192.0.2.2', '192.0.2.3'])
  })

  test('a single address is passed on by itself, and only of the family that is asked for', async () => {
    const single = (family: 'IPv6' | 4 | 6 | 0) =>
      new Promise((resolve) => lookup(NAME, { family }, (...answer) => resolve(answer)))
    expect(await single(0)).toEqual([null, '192.0.2.1', 4])
    expect(await single(6)).toEqual([null, '2001:db8::1', 6])
    expect(await single('IPv6')).toEqual([null, '2001:db8::1', 6])
    expect(await find(NAME, 4)).toEqual(['192.0.2.1', '192.0.2.2', '192.0.2.3'])
    server.names.set('four.example', { A: ['192.0.2.1'] })
    expect(await codeOf(find('four.example', 6))).toBe('ENOTFOUND')
  })

  test.each([
    ['IPv6', 'AAAA', ['192.0.2.1', '192.0.2.2', '192.0.2.3']],
    ['IPv4', 'A', ['2001:db8::1']],
  ])(
    'an answer does not wait for %s for longer than 50 ms, and is completed when it comes',
    async (_family, type, early) => {
      const hold = Promise.withResolvers<void>()
      server.held.set(`${type} ${NAME}`, hold)
      expect(await find()).toEqual(early)
      expect(await find()).toEqual(early)
      hold.resolve()
      await expect.poll(() => find()).toEqual(['192.0.2.1', '2001:db8::1', '192.0.2.2', '192.0.2.3'])
      expect(server.queries).toHaveLength(2)
    },
  )

  test('a name with addresses of one family waits for no other', async () => {
    server.names.set('four.example', { A: ['192.0.2.1'] })
    server.names.set('six.example', { AAAA: ['2001:db8::1'] })
    expect([await find('four.example'), await find('six.example')]).toEqual([['192.0.2.1'], ['2001:db8::1']])
  })
})

describe('search domains', () => {
  beforeEach(() => {
    const lines = [`nameserver ${server.address}`, 'search one.example two.example', 'options ndots:2']
    writeFileSync(resolverConfigFile, lines.join('\n'))
    lookup = create()
  })
  const asked = () => server.queries.filter((query) => query.startsWith('A ')).map((query) => query.slice(2))

  test('are tried before a name with fewer dots than ndots', async () => {
    server.names.set('dify.prod.two.example', { A: ['192.0.2.2'] })
    expect(await find('dify.prod')).toEqual(['192.0.2.2'])
    expect(asked()).toEqual(['dify.prod.one.example', 'dify.prod.two.example'])
  })

  test('are tried after a name with as many', async () => {
    server.names.set('api.dify.prod.one.example', { A: ['192.0.2.2'] })
    expect(await find('api.dify.prod')).toEqual(['192.0.2.2'])
    expect(asked()).toEqual(['api.dify.prod', 'api.dify.prod.one.example'])
  })

  test('and the name itself is tried last, and exists in none of them', async () => {
    expect(await codeOf(find('unknown'))).toBe('ENOTFOUND')
    expect(asked()).toEqual(['unknown.one.example', 'unknown.two.example', 'unknown'])
  })

  test('are read again with the name servers when the file has changed', async () => {
    const other = await startDnsServer({ 'dify.three.example': { A: ['192.0.2.3'] } })
    expect(await codeOf(find('dify'))).toBe('ENOTFOUND')
    writeFileSync(resolverConfigFile, `nameserver ${other.address}\nsearch three.example\n`)
    nowMs += 1_000
    expect(await find('dify')).toEqual(['192.0.2.3'])
    await other.close()
  })
})

describe('what is kept', () => {
  test('ten look-ups of a name at once are one', async () => {
    const found = await Promise.all(Array.from({ length: 10 }, () => find()))
    expect(found).toEqual(Array(10).fill(['192.0.2.1']))
    expect(server.queries.toSorted()).toEqual([`A ${NAME}`, `AAAA ${NAME}`])
  })

  test.each([
    ['30 s', 300, 30_000],
    ['as long as it says, if that is less', 7, 7_000],
  ])('an answer is kept for %s', async (_name, ttl, keptMs) => {
    server.names.set(NAME, { A: ['192.0.2.1'], ttl })
    await find()
    server.names.set(NAME, { A: ['192.0.2.2'], ttl })
    nowMs += keptMs - 1
    expect(await find()).toEqual(['192.0.2.1'])
    nowMs += 1
    expect(await find()).toEqual(['192.0.2.2'])
  })

  test('a failure is kept for a second', async () => {
    expect(await codeOf(find('late.example'))).toBe('ENOTFOUND')
    server.names.set('late.example', { A: ['192.0.2.4'] })
    nowMs += 999
    expect(await codeOf(find('late.example'))).toBe('ENOTFOUND')
    nowMs += 1
    expect(await find('late.example')).toEqual(['192.0.2.4'])
  })

  test('a name that no longer exists is not found, although it had addresses', async () => {
    await find()
    server.names.delete(NAME)
    nowMs += 30_000
    expect(await codeOf(find())).toBe('ENOTFOUND')
  })
})

describe('a silent name server', () => {
  test('fails a name after 2 s, and delays no other', async () => {
    const hold = Promise.withResolvers<void>()
    server.held.set('A dead.example', hold)
    server.held.set('AAAA dead.example', hold)
    const dead = codeOf(find('dead.example'))
    await server.asked('A dead.example')
    expect(await Promise.race([dead, find()])).toEqual(['192.0.2.1'])
    expect(await dead).toBe('ETIMEOUT')
    // By itself, c-ares would ask four times, and wait longer after each.
    expect(server.queries.filter((query) => query === 'A dead.example')).toHaveLength(2)
    hold.resolve()
  })

  test('leaves old addresses in use, at once from the second look-up on, and is noticed when it answers again', async () => {
    await find()
    server.isSilent = true
    nowMs += 30_000
    expect(await find()).toEqual(['192.0.2.1'])
    nowMs += 1_000
    server.isSilent = false
    server.names.set(NAME, { A: ['192.0.2.2'] })
    // The server is queried again meanwhile, but not waited for.
    expect(await find()).toEqual(['192.0.2.1'])
    await expect.poll(() => find()).toEqual(['192.0.2.2'])
  })

  test('leaves them in use for 5 minutes', async () => {
    await find()
    await server.close()
    for (nowMs = 30_000; nowMs < 300_000; nowMs += 30_000) expect(await find()).toEqual(['192.0.2.1'])
    nowMs = 300_000
    // The last of them was answered before its query, whose failure is known now.
    await expect.poll(() => codeOf(find())).toBe('ECONNREFUSED')
  })
})
