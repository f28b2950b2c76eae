import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Problem } from '#core/errors.ts'
import type { FailedAttempt, Route } from './route.ts'
import { agentWith, routesOf } from './routes.test-support.ts'
import type { RouteRequest } from './routes.ts'

const REFUSED: FailedAttempt = {
  failure: { reason: 'agent_unreachable', turn: 'none' },
  turn: 'none',
  httpStatus: undefined,
}
const LIMITED: FailedAttempt = {
  failure: { reason: 'agent_rate_limited', turn: 'none' },
  turn: 'none',
  httpStatus: 429,
}
const HANGING: FailedAttempt = {
  failure: { reason: 'agent_timeout' },
  turn: 'unknown',
  httpStatus: undefined,
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

function atOnce(entering: Route | Promise<Route>): Route {
  if (entering instanceof Promise) throw new Error('the call waits')
  return entering
}

/** Why a call is refused. */
async function refusal(entering: Route | Promise<Route>): Promise<Problem> {
  const entered = await Promise.resolve(entering).catch((error: unknown) => error)
  if (!(entered instanceof Problem)) throw new Error('the call is not refused')
  return entered
}

/** Makes a deployment fail until its breaker opens. */
function breakDeployments(
  { enter }: ReturnType<typeof routesOf>,
  more: Partial<RouteRequest> = {},
  times = 5,
) {
  for (let call = 0; call < times; call += 1) {
    const route = atOnce(enter(more))
    route.beginAttempt()
    route.noteFailure(REFUSED)
    route.leave()
  }
}

const TWO = [{ id: 'main' }, { id: 'us' }]

describe('the choice', () => {
  test('a call goes to the lowest priority that works, and comes back to it', async () => {
    const test = routesOf(agentWith([{ id: 'main' }, { id: 'spare', priority: 1 }]))
    const placeOf = () => {
      const route = atOnce(test.enter())
      route.leave()
      return route.deployment.id
    }
    expect(placeOf()).toBe('main')
    breakDeployments(test)
    expect(placeOf()).toBe('spare')
    test.clock.ms += 7_000
    expect(placeOf()).toBe('spare')
    await vi.advanceTimersByTimeAsync(0)
    expect(test.probes).toEqual(['https://main.example/v1/info'])
    const trial = atOnce(test.enter())
    expect(trial.deployment.id).toBe('main')
    expect(placeOf()).toBe('spare')
    trial.beginAttempt()
    trial.answered()
    expect(placeOf()).toBe('main')
    expect(test.changes.map(({ deployment, breaker }) => [deployment, breaker])).toEqual([
      ['main', 'open'],
      ['main', 'closed'],
    ])
  })

  test('a deployment without weight serves the conversations that it has, and no new ones', () => {
    const test = routesOf(agentWith([{ id: 'main', weight: 0 }, { id: 'us' }]))
    for (let call = 0; call < 20; call += 1) expect(atOnce(test.enter()).deployment.id).toBe('us')
    const residence = { deployment: 'main', state: 'main' }
    expect(atOnce(test.enter({ residence })).deployment.id).toBe('main')
  })

  test('a conversation stays where it lives, or with what shares the state or has taken it over', async () => {
    const agent = agentWith([
      { id: 'eu', state: 'shared', formerly: ['main'] },
      { id: 'eu-2', state: 'shared' },
      { id: 'us' },
    ])
    const test = routesOf(agent)
    const places = (deployment: string, state: string) =>
      new Set(
        Array.from(
          { length: 20 },
          () => atOnce(test.enter({ residence: { deployment, state } })).deployment.id,
        ),
      )
    expect(places('eu', 'shared')).toEqual(new Set(['eu']))
    expect(places('gone', 'shared')).toEqual(new Set(['eu', 'eu-2']))
    expect(places('main', 'main')).toEqual(new Set(['eu']))
    expect(await refusal(test.enter({ residence: { deployment: 'gone', state: 'gone' } }))).toMatchObject({
      reason: 'conversation_not_found',
    })
  })

  test('where one deployment is left, it gets no conversation of another that is gone', async () => {
    const test = routesOf(agentWith([{ id: 'main' }]))
    expect(await refusal(test.enter({ residence: { deployment: 'us', state: 'us' } }))).toMatchObject({
      reason: 'conversation_not_found',
    })
    expect(atOnce(test.enter({ residence: { deployment: 'main', state: 'main' } })).deployment.id).toBe(
      'main',
    )
  })

  test('a conversation whose deployment is down is refused, and goes on where the state is shared', async () => {
    const shared = routesOf(
      agentWith([
        { id: 'main', state: 's' },
        { id: 'two', state: 's' },
      ]),
    )
    const residence = { deployment: 'main', state: 's' }
    breakDeployments(shared, { residence })
    expect(atOnce(shared.enter({ residence })).deployment.id).toBe('two')

    const apart = routesOf(agentWith(TWO))
    const atMain = { residence: { deployment: 'main', state: 'main' } }
    breakDeployments(apart, atMain)
    expect(await refusal(apart.enter(atMain))).toMatchObject({
      reason: 'agent_unavailable',
      detail: 'this conversation lives on a deployment that is down.',
      retryAfterSeconds: expect.any(Number),
    })
    expect(atOnce(apart.enter()).deployment.id).toBe('us')
  })

  test('if all are down, calls are refused at once; a key that is known to be invalid is refused as such', async () => {
    const test = routesOf()
    breakDeployments(test)
    expect(await refusal(test.enter())).toMatchObject({ reason: 'agent_unavailable', status: 503 })
    const confirmKey = () => {
      throw new Problem('key_revoked')
    }
    expect(await refusal(test.enter({ confirmKey }))).toMatchObject({ reason: 'key_revoked' })
  })

  test('refusals of the caller, of its credential and runs that fail never open a breaker', () => {
    const test = routesOf()
    const harmless: FailedAttempt[] = [
      LIMITED,
      { failure: { reason: 'agent_rejected_input' }, turn: 'none', httpStatus: 400 },
      { failure: { reason: 'agent_error' }, turn: 'stored', httpStatus: 200 },
    ]
    for (let call = 0; call < 1_000; call += 1) {
      for (const failed of harmless) {
        const route = atOnce(test.enter())
        route.beginAttempt()
        route.noteFailure(failed)
        route.leave()
      }
      const left = atOnce(test.enter())
      left.beginAttempt()
      left.endedEarly()
      left.leave()
    }
    expect(test.changes).toEqual([])
    expect(test.routes.load()[0]).toMatchObject({
      inFlight: 0,
      deployments: [{ breaker: 'closed', inFlight: 0 }],
    })
  })
})

describe('another attempt', () => {
  function begun(test: ReturnType<typeof routesOf>, more: Partial<RouteRequest> = {}): Route {
    const route = atOnce(test.enter(more))
    route.beginAttempt()
    return route
  }

  test('goes elsewhere at once after what was not taken, and not a third time by default', () => {
    const route = begun(routesOf(agentWith(TWO)))
    const first = route.deployment.id
    expect(route.afterFailure(REFUSED)).toEqual({ delayMs: 0 })
    expect(route.deployment.id).not.toBe(first)
    route.beginAttempt()
    expect(route.afterFailure(REFUSED)).toBeUndefined()
    expect(route.attempts).toBe(2)
  })

  test('waits before the same deployment, at most as long as the platform may ask for', () => {
    expect(begun(routesOf()).afterFailure(REFUSED)?.delayMs).toBeGreaterThanOrEqual(100)
    expect(begun(routesOf()).afterFailure(REFUSED)?.delayMs).toBeLessThan(300)
    const limited = (retryAfterSeconds: number) => ({
      ...LIMITED,
      failure: { ...LIMITED.failure, retryAfterSeconds },
    })
    expect(begun(routesOf()).afterFailure(limited(2))).toEqual({ delayMs: 2_000 })
    expect(begun(routesOf()).afterFailure(limited(3))).toBeUndefined()
  })

  test('follows what is unknown only for agents that keep nothing, and only elsewhere', () => {
    expect(begun(routesOf(agentWith(TWO))).afterFailure(HANGING)).toBeUndefined()
    expect(begun(routesOf(agentWith(TWO, { id: 'openai' }))).afterFailure(HANGING)).toEqual({ delayMs: 0 })
    expect(
      begun(routesOf(agentWith([{ id: 'main' }], { id: 'openai' }))).afterFailure(HANGING),
    ).toBeUndefined()
    const stored = { ...HANGING, turn: 'stored' } as const
    expect(begun(routesOf(agentWith(TWO, { id: 'openai' }))).afterFailure(stored)).toBeUndefined()
  })

  test('after a refused credential uses another one alone', () => {
    const refused = {
      failure: { reason: 'agent_credentials', turn: 'none' },
      turn: 'none',
      httpStatus: 401,
    } as const
    expect(begun(routesOf()).afterFailure(refused)).toBeUndefined()
    expect(begun(routesOf(agentWith(TWO))).afterFailure(refused)).toEqual({ delayMs: 0 })
    const sameKey = TWO.map((each) => ({ ...each, agent: { apiKey: 'one-key' } }))
    expect(begun(routesOf(agentWith(sameKey))).afterFailure(refused)).toBeUndefined()
  })

  test('does not follow what the caller has caused', () => {
    const failure = { reason: 'agent_rejected_input', turn: 'none' } as const
    expect(
      begun(routesOf(agentWith(TWO))).afterFailure({ failure, turn: 'none', httpStatus: 400 }),
    ).toBeUndefined()
  })

  test('stays with the conversation', () => {
    const route = begun(routesOf(agentWith(TWO)), { residence: { deployment: 'us', state: 'us' } })
    expect(route.afterFailure(REFUSED)?.delayMs).toBeGreaterThan(0)
    expect(route.deployment.id).toBe('us')
  })

  test('is one of a fifth of the calls in progress at most, and of three at least', () => {
    const test = routesOf(agentWith(TWO))
    const routes = Array.from({ length: 100 }, () => begun(test, {}))
    const repeated = routes.filter((route) => route.afterFailure(LIMITED) !== undefined)
    expect(repeated).toHaveLength(20)
    repeated[0]?.beginAttempt()
    repeated[0]?.answered()
    routes.push(begun(test))
    expect(routes.at(-1)?.afterFailure(LIMITED)).toBeDefined()
    for (const route of routes) route.leave()
    const few = Array.from({ length: 5 }, () => begun(test))
    expect(few.filter((route) => route.afterFailure(LIMITED) !== undefined)).toHaveLength(3)
  })
})

describe('slots', () => {
  const bounded = (more: object = {}) =>
    agentWith([{ id: 'main' }], {
      concurrency: { max: 2, perKey: undefined, queue: 2, waitMs: 1_000, ...more },
    })

  test('a call waits for a slot, first come first served, and beyond the queue is refused at once', async () => {
    const test = routesOf(bounded())
    const [one, two] = [atOnce(test.enter()), atOnce(test.enter())]
    const [three, four] = [test.enter(), test.enter()]
    expect(await refusal(test.enter())).toMatchObject({ reason: 'agent_overloaded', retryAfterSeconds: 1 })
    test.clock.ms += 300
    one.leave()
    expect((await three).queuedMs).toBe(300)
    two.leave()
    expect((await four).queuedMs).toBe(300)
    expect(test.routes.load()[0]).toMatchObject({ inFlight: 2, waiting: 0 })
  })

  test('a call that waits in vain, or whose client leaves, takes no slot', async () => {
    const test = routesOf(bounded())
    const held = [atOnce(test.enter()), atOnce(test.enter())]
    const client = new AbortController()
    const [late, gone] = [refusal(test.enter()), refusal(test.enter({ signal: client.signal }))]
    client.abort()
    expect((await gone).reason).toBe('agent_overloaded')
    await vi.advanceTimersByTimeAsync(1_000)
    expect((await late).reason).toBe('agent_overloaded')
    for (const route of held) route.leave()
    expect(test.routes.load()[0]).toMatchObject({ inFlight: 0, waiting: 0 })
  })

  test('a key with many calls leaves slots to others', async () => {
    const test = routesOf(bounded({ max: 10, perKey: 2, queue: 5 }))
    const loud = Array.from({ length: 20 }, () => test.enter({ keyHash: 'loud' }))
    const outcomes = Promise.allSettled(loud)
    expect(atOnce(test.enter({ keyHash: 'quiet' })).deployment.id).toBe('main')
    atOnce(loud[0] ?? fail('no call')).leave()
    atOnce(loud[1] ?? fail('no call')).leave()
    await vi.advanceTimersByTimeAsync(1_000)
    const statuses = (await outcomes).map(({ status }) => status)
    expect(statuses.filter((status) => status === 'fulfilled')).toHaveLength(4)
  })

  test('a deployment with all the calls that it may have leaves them to the others', async () => {
    const agent = agentWith(
      [
        { id: 'main', max: 1 },
        { id: 'us', max: 1 },
      ],
      {
        concurrency: { max: undefined, perKey: undefined, queue: 1, waitMs: 1_000 },
      },
    )
    const test = routesOf(agent)
    const held = [atOnce(test.enter()), atOnce(test.enter())]
    expect(new Set(held.map(({ deployment }) => deployment.id))).toEqual(new Set(['main', 'us']))
    const waiting = test.enter({ residence: { deployment: 'us', state: 'us' } })
    held.find(({ deployment }) => deployment.id === 'us')?.leave()
    expect((await waiting).deployment.id).toBe('us')
  })

  test('calls that wait are refused when the agent goes down, and when the process drains', async () => {
    const test = routesOf(bounded({ max: 5, queue: 5 }))
    const held = Array.from({ length: 5 }, () => atOnce(test.enter()))
    const waiting = refusal(test.enter())
    for (const route of held) {
      route.beginAttempt()
      route.noteFailure(REFUSED)
    }
    expect((await waiting).reason).toBe('agent_unavailable')

    const other = routesOf(bounded({ max: 1 }))
    atOnce(other.enter())
    const drained = refusal(other.enter())
    other.routes.drain()
    expect((await drained).reason).toBe('draining')
    expect((await refusal(other.enter())).reason).toBe('draining')
  })

  test('a key that is known to be invalid takes no place in the queue', async () => {
    const test = routesOf(bounded({ max: 1 }))
    atOnce(test.enter())
    const confirmKey = () => {
      throw new Problem('key_expired')
    }
    expect((await refusal(test.enter({ confirmKey }))).reason).toBe('key_expired')
    expect(test.routes.load()[0]).toMatchObject({ waiting: 0 })
  })
})

function fail(message: string): never {
  throw new Error(message)
}
