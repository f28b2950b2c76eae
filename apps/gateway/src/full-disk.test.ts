import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseConfig } from '#config/load.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import type { Database } from '#core/database/database.ts'
import { openScratchDatabase } from '#core/database/scratch-database.test-support.ts'
import type { Services } from '#core/services/services.ts'
import { createLogger } from '#ops/logger.ts'
import { createGateway, type Gateway } from './composition/gateway.ts'

let database: Database
let gateway: Gateway
let dataDir: string

beforeAll(async () => {
  database = await openScratchDatabase()
  dataDir = await mkdtemp(join(tmpdir(), 'trunkline-'))
  // No disk has so much.
  const storage = { freeBytesMin: Number.MAX_SAFE_INTEGER }
  const config = parseConfig(
    { agents: { openai: { baseUrl: 'http://127.0.0.1:9', model: 'm' } }, storage },
    { DATA_DIR: dataDir },
  )
  gateway = await createGateway({ config, database, runtime: systemRuntime, log: createLogger('silent') })
})
afterAll(async () => {
  await gateway?.close()
  await database?.close()
  await rm(dataDir, { recursive: true })
})

/** The methods of each service that change something. Calls are refused by their admission, after the key was checked. */
const CHANGES = {
  login: ['logout'],
  users: ['create', 'update', 'setPassword', 'changeOwnPassword'],
  keys: ['create', 'update', 'rotate', 'endPreviousSecret', 'resetUsage', 'revoke'],
  uploads: ['remove'],
} as const satisfies { readonly [Name in keyof Services]?: readonly (keyof Services[Name])[] }

/** The names of methods that only read, or that are refused otherwise. A new method must be in one of both lists. */
const READS = {
  login: ['login'],
  users: ['find', 'findByName', 'findManaged', 'findMany', 'list', 'count', 'me', 'isVisibleTo'],
  keys: [
    ...[
      'check',
      'find',
      'findManaged',
      'findMany',
      'list',
      'count',
      'listOfOwners',
      'rateLimits',
      'countOfOwners',
    ],
    ...['isVisibleTo', 'current', 'checkRotation'],
  ],
  uploads: [
    ...['requireUploader', 'receive', 'find', 'findMany', 'list', 'count', 'listOfKeys', 'countOfKeys'],
    ...['urlOf', 'openByAddress'],
  ],
}

test.each(Object.keys(CHANGES) as (keyof typeof CHANGES)[])(
  'a full disk refuses every change of %s',
  async (name) => {
    const { services, processTasks } = gateway
    if ((await processTasks.firstStart.usersExist()) === false) {
      await processTasks.firstStart.createFirstAdmin({ username: 'admin', password: 'correct horse' })
      await gateway.prepare()
    }
    expect([...CHANGES[name], ...READS[name]].sort()).toEqual(Object.keys(services[name]).sort())
    for (const method of CHANGES[name]) {
      const change: unknown = Reflect.get(services[name], method)
      if (typeof change !== 'function') throw new Error(`${method} is no method`)
      await expect(change(), method).rejects.toMatchObject({ reason: 'unavailable', status: 503 })
    }
  },
)

test('on a full disk a login succeeds and writes nothing', async () => {
  const { services, health } = gateway
  const { user, accessToken } = await services.login.login(
    { username: 'admin', password: 'correct horse' },
    { address: '127.0.0.1', requestId: 'test' },
  )
  expect([user.username, user.lastLogin]).toEqual(['admin', null])
  expect(
    await services.authentication.authenticate(
      accessToken,
      { address: '127.0.0.1', requestId: 'test' },
      () => undefined,
    ),
  ).toMatchObject({
    userId: user.id,
  })
  expect(await health.dependencies()).toMatchObject({ disk: { ok: false } })
})
