import Fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { ERRORS, Problem } from '#core/base/errors/errors.ts'
import { knowCaller } from '#http/guards/credentials.ts'
import { createLogger } from '#ops/logger.ts'
import { createServer, mountRoutes } from '#server/create-server.ts'
import {
  ANN,
  BOUND_CALLERS,
  type BoundCaller,
  CALLERS,
  type CallerName,
  type Callers,
  chatCall,
  openCallers,
} from './callers.test-support.ts'
import { CONTRACT, OPEN_OPERATIONS, OPERATIONS, requestOf } from './operations.test-support.ts'
import { boundCell, boundCells } from './rows.test-support.ts'
import { rowsOf, TABLE } from './table.test-support.ts'

const rows = new Map(rowsOf(TABLE))
const BOUND = Object.keys(BOUND_CALLERS) as BoundCaller[]
const OTHERS_OF_ANN = BOUND.filter((name) => name.endsWith('for Bob'))
const ALL_CALLERS: readonly CallerName[] = [...CALLERS, ...BOUND]
let all: Callers
let complete: FastifyInstance
let withoutHooks: FastifyInstance

beforeAll(async () => {
  // Noon, since the usage of today starts again at midnight. The clock goes on from there.
  const now = new Date().setUTCHours(12, 0, 0, 0)
  vi.useFakeTimers({ toFake: ['Date'], now, shouldAdvanceTime: true })
  all = await openCallers({ chatsPerMinute: 10_000, bindsEndUsers: true })
  complete = await createServer(all.config, all.gateway, createLogger('silent'))
  withoutHooks = await serveWithoutHooks(all)
})
afterAll(async () => {
  await complete?.close()
  await withoutHooks?.close()
  await all?.close()
  vi.useRealTimers()
})

describe('called without any face, the services', () => {
  test('have every method that a face can call in the table', () => {
    expect([...rows.keys()].sort()).toEqual(methodsOf(all.gateway.services).sort())
  })

  test.each(ALL_CALLERS)('allow %s what the table says of every method, and nothing else', async (name) => {
    const methods = [...rows.keys()].filter((method) => cellOf(method, name) !== undefined)
    expect(await forEach(methods, (method) => outcomeOf(method, name))).toEqual(
      await forEach(methods, async (method) => cellOf(method, name)),
    )
  })
})

test('a chat call without an API key does not reveal which agents exist', async () => {
  const { anonymous, ...cells } = await forEach(CALLERS, async (name) => {
    const call = chatCall(all.callers[name], 'unknown')
    const chat = all.gateway.services.chat.start(call, new AbortController().signal, () => undefined)
    return chat.then(
      () => 'allowed',
      ({ reason }: Problem) => reason,
    )
  })
  expect(anonymous).toBe('credential_malformed')
  for (const [name, reason] of Object.entries(cells)) {
    expect(reason, name).toBe(name.includes('key') ? 'unknown_agent' : 'api_key_required')
  }
})

test('every operation of the contract is in the list', () => {
  expect([...Object.keys(OPERATIONS), ...OPEN_OPERATIONS].sort()).toEqual([...CONTRACT.keys()].sort())
})

describe.each(['with its hooks', 'without any hook'])('over HTTP, %s,', (hooks) => {
  const app = () => (hooks === 'with its hooks' ? complete : withoutHooks)
  const callers = hooks === 'with its hooks' ? [...CALLERS, ...OTHERS_OF_ANN] : CALLERS

  test.each(callers)('%s may do what the table says of every operation, and nothing else', async (name) => {
    const operationIds = Object.keys(OPERATIONS)
    const expected = await forEach(operationIds, async (operationId) => {
      const cell = cellOverHttp(OPERATIONS[operationId]?.method ?? '', name)
      // The hook sees that there is no credential; the service gets an empty one.
      if (cell === 'credential_malformed' && hooks === 'with its hooks') return 'credential_missing'
      return cell !== undefined && Object.hasOwn(ERRORS, cell) ? cell : 'allowed'
    })
    expect(await forEach(operationIds, (id) => answerTo(app(), id, name))).toEqual(expected)
  })
})

function isBound(name: CallerName): name is BoundCaller {
  return Object.hasOwn(BOUND_CALLERS, name)
}

/** The result of calling the method as this caller. */
async function outcomeOf(method: string, name: CallerName): Promise<string> {
  const row = rows.get(method)
  const caller = all.callers[name]
  const call = { all, caller, services: all.gateway.services }
  try {
    const result = await (row?.kind === 'anybody'
      ? row.call(call)
      : row?.kind === 'principal' && caller.principal && row.call(caller.principal, call))
    return typeof result === 'string' ? result : 'allowed'
  } catch (error) {
    if (error instanceof Problem) return error.reason
    throw error
  }
}

/** What the caller gets of the method; undefined if the method does not depend on the caller, or cannot be called without one. */
function cellOf(method: string, name: CallerName): string | undefined {
  const row = rows.get(method)
  if (row === undefined || row.kind === 'open') return undefined
  if (isBound(name)) return boundCells(row.cells, row.forOthers)[name]
  if (name === 'anonymous') return row.kind === 'anybody' ? row.cells.anonymous : undefined
  return row.cells[name]
}

function cellOverHttp(method: string, name: CallerName): string | undefined {
  const row = rows.get(method)
  if (row === undefined || row.kind === 'open' || isBound(name)) return cellOf(method, name)
  if (name === 'anonymous') return cellOf(method, name) ?? 'credential_missing'
  // Over HTTP a key that may only chat or upload is always bound, here to Ann.
  const isOfAnn = all.callers[name].endUser !== undefined
  return isOfAnn ? boundCell(row.cells[name], row.forOthers, true) : row.cells[name]
}

async function answerTo(app: FastifyInstance, operationId: string, name: CallerName): Promise<string> {
  const response = await app.inject(await requestOf(operationId, all, name))
  if (isBound(name)) expect(response.body, operationId).not.toContain(ANN)
  if (response.statusCode === 200) return 'allowed'
  const { reason, error } = response.json()
  return reason ?? error.code
}

/** The faces without their hooks, except one that authenticates the caller, so that only the services can refuse. */
async function serveWithoutHooks({ config, gateway }: Callers): Promise<FastifyInstance> {
  const app = Fastify()
  app.addHook('onRoute', (route) => {
    for (const hook of ['preParsing', 'preValidation', 'preHandler', 'errorHandler'] as const)
      delete route[hook]
    route.onRequest = async (request) => {
      const credential = request.headers.authorization?.slice('Bearer '.length) ?? ''
      request.apiKey = credential
      if (credential === '') return
      await knowCaller(gateway.services, request)
    }
  })
  await mountRoutes(app, config, gateway)
  return app
}

/** Every method of an object and of the objects in it, inherited ones included. */
function methodsOf(object: object, path: readonly string[] = []): string[] {
  const names = new Set<string>()
  for (
    let holder: unknown = object;
    holder instanceof Object && holder !== Object.prototype;
    holder = Object.getPrototypeOf(holder)
  ) {
    for (const name of Object.getOwnPropertyNames(holder)) if (name !== 'constructor') names.add(name)
  }
  return [...names].flatMap((name) => {
    const value: unknown = Reflect.get(object, name)
    const own = [...path, name]
    if (typeof value === 'function') return [own.join('.')]
    return typeof value === 'object' && value !== null ? methodsOf(value, own) : [own.join('.')]
  })
}

async function forEach<Name extends string, Result extends string | undefined>(
  names: readonly Name[],
  work: (name: Name) => Promise<Result>,
): Promise<Record<string, Result>> {
  const results: Record<string, Result> = {}
  for (const name of names) results[name] = await work(name)
  return results
}
