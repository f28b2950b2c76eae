import { openDatabase } from '@trunkline/gateway/src/core/database/open.ts'
import {
  createScratchDatabase,
  openEmptyDatabase,
  type ScratchDatabase,
} from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { badCredentials, CREDENTIAL_REASONS, chatKey } from '../support/contract/bad-credentials.ts'
import { OPERATIONS, type Operation } from '../support/contract/contract.ts'
import {
  type ContractGateway,
  inventedKey,
  sendOperation,
  startContractGateway,
} from '../support/contract/contract-gateway.ts'
import { ASK_A_PLATFORM } from '../support/contract/conversation-provocations.ts'
import { expectDocumented, reasonOf } from '../support/contract/expect-documented.ts'
import { uploadForm } from '../support/contract/form.ts'
import { type InProcess, serveOn } from '../support/contract/in-process.ts'
import { GOOD, PROVOCATIONS } from '../support/contract/provocations.ts'
import type { Answer } from '../support/contract/send.ts'
import { UNKNOWN_FILE } from '../support/contract/upload-provocations.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'

// A process, because every documented status must come from a whole gateway; those of a broken one are served in this process.

/** Clients of kept calls go on to read and stop them. */
const SERVED_WHILE_DRAINING: ReadonlySet<string> = new Set([
  'resumeCall',
  'readReply',
  'stopCall',
  'deleteReply',
])

const postgres = process.env.E2E_DATABASE_URL ?? ''

/** Statuses that are provoked in servers within this process, for every operation that documents them. */
const OWN_FAULT = 500
const UNAVAILABLE = 503
const AGENT_TIMEOUT = 504

/** It needs a process of an older version, which would refuse the rotations of all other provocations; keys-that-live-long.test.ts has it. */
const UPGRADE_PENDING = 'upgrade_pending'

const BOUND = { 'x-end-user': 'ann' }
/** Statuses that only requests have which are bound to an end user, or are not although they have to be. */
const OF_BOUND_KEYS = [
  ['readModel', 400, {}],
  ['listRefusals', 403, BOUND],
  ['countRefusals', 403, BOUND],
] as const
const isOfBoundKeys = (id: string, of: number) =>
  OF_BOUND_KEYS.some(([operation, status]) => operation === id && status === of)

test('every documented status and every documented reason has a provocation', () => {
  const missing = OPERATIONS.flatMap((operation) =>
    [...operation.responses]
      .filter(([status]) => status !== OWN_FAULT && status !== UNAVAILABLE)
      .filter(([status]) => !isOfBoundKeys(operation.id, status))
      // A platform that says nothing is waited for 15 s.
      .filter(([status]) => status !== AGENT_TIMEOUT || !ASK_A_PLATFORM.has(operation.id))
      .flatMap(([status, { reasons }]) => {
        const own = PROVOCATIONS.filter((each) => each.status === status && each.of(operation))
        const provoked = new Set<string | undefined>([
          ...own.map(({ reason }) => reason),
          ...CREDENTIAL_REASONS,
        ])
        const isToldByChats = (reason: string) =>
          ASK_A_PLATFORM.has(operation.id) && reason.startsWith('agent_')
        const unprovoked = reasons.filter(
          (reason) => !provoked.has(reason) && !isToldByChats(reason) && reason !== UPGRADE_PENDING,
        )
        return own.length === 0
          ? [`${operation.id} ${status}`]
          : unprovoked.map((each) => `${operation.id} ${each}`)
      }),
  )
  expect(missing).toEqual([])
  expect(OPERATIONS.map(({ id }) => id).filter((id) => GOOD[id] === undefined)).toEqual([])
})

describe('a running gateway', () => {
  let gateway: ContractGateway
  beforeAll(async () => {
    gateway = await startContractGateway()
  })
  afterAll(() => gateway?.remove())

  const cases = OPERATIONS.flatMap((operation) =>
    PROVOCATIONS.filter(
      (each) =>
        each.of(operation) &&
        !isOfBoundKeys(operation.id, each.status) &&
        (postgres !== '' || each.needsServer !== true),
    ).map(
      (provocation) => [operation.id, provocation.status, provocation.what, operation, provocation] as const,
    ),
  )
  test.each(cases)('answers %s with %i for %s', async (id, status, _what, operation, { reason, request }) => {
    const good = await GOOD[id]?.(gateway)
    const answer = await gateway.send(id, await request(good ?? {}, gateway))
    expect(answer.status, answer.text).toBe(status)
    expectDocumented(operation, answer)
    if (reason !== undefined) expect(reasonOf(answer.body)).toBe(reason)
  })
})

describe('a credential that is not good', () => {
  let server: InProcess
  let credentials: Readonly<Record<string, string | undefined>>
  beforeAll(async () => {
    const database = await openEmptyDatabase()
    await database.migrate()
    const limits = { refusedKeys: { points: 10_000 }, agents: { points: 10_000 } }
    server = await serveOn(database, { limits, publicAgentListing: false })
    await server.prepare()
    credentials = await badCredentials(server, database)
  })
  afterAll(() => server?.close())

  const cases = CREDENTIAL_REASONS.flatMap((reason) =>
    OPERATIONS.filter(({ responses }) => responses.get(401)?.reasons.includes(reason)).map(
      (operation) => [operation.id, reason, operation] as const,
    ),
  )
  test.each(cases)('%s returns %s', async (_id, reason, operation) => {
    const answer = await askAnything(server, operation, credentials[reason])
    expect([answer.status, reasonOf(answer.body)], answer.text).toEqual([401, reason])
    expectDocumented(operation, answer)
  })
})

describe('an API key that is bound to end users', () => {
  let server: InProcess
  let key: string
  beforeAll(async () => {
    const database = await openEmptyDatabase()
    await database.migrate()
    server = await serveOn(database, {
      conversations: { endUserHeader: 'x-end-user', endUserRequired: true },
    })
    await server.prepare()
    key = await chatKey(server)
  })
  afterAll(() => server?.close())

  test.each(OF_BOUND_KEYS)('%s returns %i without an end user or for one', async (id, status, headers) => {
    const operation = OPERATIONS.find((each) => each.id === id)
    const answer = await sendOperation(server.url, id, { as: key, id: 'fastgpt', headers })
    expect(answer.status, answer.text).toBe(status)
    if (operation === undefined) throw new Error(`no operation ${id}`)
    expectDocumented(operation, answer)
  })
})

describe('a database without its tables', () => {
  let server: InProcess
  beforeAll(async () => {
    const database = await openEmptyDatabase()
    await database.migrate()
    server = await serveOn(database)
    await server.prepare()
    await database.sql.query('DROP SCHEMA public CASCADE')
  })
  afterAll(() => server?.close())

  test.each(documenting(OWN_FAULT))('%s returns 500 without naming the cause', async (_id, operation) => {
    const answer = await askAnything(server, operation, inventedKey())
    expect(answer.status, answer.text).toBe(OWN_FAULT)
    expectDocumented(operation, answer)
    expect(answer.text).toContain('"An internal error happened."')
    expect(answer.text).not.toMatch(/relation|table|prisma/i)
  })
})

describe('a start that has not completed', () => {
  let server: InProcess
  beforeAll(async () => {
    server = await serveOn(await openDatabase({ kind: 'server', url: 'postgres://127.0.0.1:9/none' }))
  })
  afterAll(() => server?.close())

  test.each(documenting(UNAVAILABLE))('answers %s with 503', async (_id, operation) => {
    const answer = await askAnything(server, operation, inventedKey())
    expect(answer.status, answer.text).toBe(UNAVAILABLE)
    expect(answer.headers['retry-after']).toBe('1')
    expectDocumented(operation, answer)
  })

  test('routes that need no database are served', async () => {
    for (const path of ['/healthz', '/metrics', '/openapi.json', '/docs/', '/api/v1/agents']) {
      expect((await fetch(`${server.url}${path}`)).status, path).toBe(200)
    }
  })

  test('while draining, every path under /api/ returns 503 before credentials are checked', async () => {
    await server.drain()
    for (const operation of OPERATIONS.filter(({ path }) => path.startsWith('/api/'))) {
      if (SERVED_WHILE_DRAINING.has(operation.id)) continue
      const answer = await sendOperation(server.url, operation.id, {})
      expectDocumented(operation, answer)
      expect([answer.status, reasonOf(answer.body)], operation.id).toEqual([UNAVAILABLE, 'draining'])
    }
    const documenting = OPERATIONS.filter(({ responses }) =>
      responses.get(UNAVAILABLE)?.reasons.includes('draining'),
    )
    expect(documenting.filter(({ path }) => !path.startsWith('/api/'))).toEqual([])
  })
})

describe.skipIf(postgres === '')('a database that has gone away', () => {
  let server: InProcess
  let proxy: TcpProxy
  let scratch: ScratchDatabase
  beforeAll(async () => {
    scratch = await createScratchDatabase(postgres)
    proxy = await startTcpProxy(scratch.url)
    const database = await openDatabase({ kind: 'server', url: proxy.url })
    server = await serveOn(database)
    await server.prepare()
    await proxy.cut()
  })
  afterAll(async () => {
    await server?.close()
    await proxy?.close()
    await scratch?.drop()
  })

  test.each(documenting(UNAVAILABLE))('answers %s with 503', async (_id, operation) => {
    const answer = await askAnything(server, operation, inventedKey())
    expect(answer.status, answer.text).toBe(UNAVAILABLE)
    expectDocumented(operation, answer)
  })
})

function documenting(status: number): (readonly [string, Operation])[] {
  return OPERATIONS.filter(({ responses }) => responses.has(status)).map((operation) => [
    operation.id,
    operation,
  ])
}

/** A request built from the contract alone: the documented example with a well-formed key. */
function askAnything({ url }: InProcess, { id, body }: Operation, as: string | undefined): Promise<Answer> {
  const request = { as, id: '00000000-0000-7000-8000-000000000000', body: body?.example }
  const agent = { agent: 'fastgpt' }
  switch (id) {
    case 'upload': {
      const { headers, body } = uploadForm()
      return sendOperation(url, id, { ...request, headers: { ...headers, ...agent }, body })
    }
    case 'getFile':
      return sendOperation(url, id, { id: UNKNOWN_FILE })
    default:
      return sendOperation(url, id, { ...request, headers: agent })
  }
}
