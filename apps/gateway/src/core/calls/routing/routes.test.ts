import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Caller } from '#core/agents/deployments/caller.ts'
import { Problem } from '#core/base/errors/errors.ts'
import type { FailedAttempt, Route } from './route.ts'
import { agentWith, callerOf, routesOf as openRoutes, type TestRoutes } from './routes.test-support.ts'
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

const opened: TestRoutes[] = []
const routesOf = (...agent: Parameters<typeof openRoutes>): TestRoutes => {
  const test = openRoutes(...agent)
  opened.push(test)
  return test
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  for (const { routes } of opened.splice(0)) routes.drain()
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

const BARE_500: FailedAttempt = { failure: { reason: 'agent_error' }, turn: 'unknown', httpStatus: 500 }

/** Calls one after the other, all of which fail. */
function fail(
  { enter }: ReturnType<typeof routesOf>,
  callers: readonly Caller[],
  failed: FailedAttempt = BARE_500,
) {
  for (const caller of callers) {
    const route = atOnce(enter({ caller }))
    route.beginAttempt()
    route.noteFailure(failed)
    route.leave()
  }
}

function succeed({ enter }: ReturnType<typeof routesOf>, caller: Caller) {
  const route = atOnce(enter({ caller }))
  route.beginAttempt()
  route.answered()
  route.leave()
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

  test('a deployment that is down is probed once a minute while nobody calls, and the next call tries it', async () => {
    const test = routesOf(agentWith([{ id: 'main' }]))
    const pass = async (ms: number) => {
      test.clock.ms += ms
      await vi.advanceTimersByTimeAsync(ms)
    }
    breakDeployments(test)
    test.answer = undefined
    for (const ms of [55_000, 10_000, 50_000]) await pass(ms)
    expect(test.probes).toEqual(['https://main.example/v1/info'])
    test.answer = { status: 200, body: {} }
    await pass(20_000)
    expect(test.probes).toHaveLength(2)
    expect(test.routes.load()).toMatchObject([{ deployments: [{ breaker: 'half_open', isUnasked: true }] }])
    succeed(test, callerOf('bob'))
    await pass(5_000)
    expect(vi.getTimerCount()).toBe(0)
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
      left.leave()
    }
    expect(test.changes).toEqual([])
    expect(test.routes.load()[0]).toMatchObject({
      inFlight: 0,
      deployments: [{ breaker: 'closed', inFlight: 0 }],
    })
  })
})

describe('what one owner causes', () => {
  const [ada, bob, eve] = [callerOf('ada'), callerOf('bob'), callerOf('eve')]

  test('is refused to that owner alone, also where it waits, and is told once', async () => {
    const agent = agentWith([{ id: 'main' }], {
      concurrency: { max: 6, perOwner: undefined, perKey: undefined, queue: 5, waitMs: 1_000 },
    })
    const test = routesOf(agent)
    succeed(test, ada)
    const attack = Array.from({ length: 6 }, () => atOnce(test.enter({ caller: eve })))
    const waiting = [refusal(test.enter({ caller: eve })), test.enter({ caller: ada })] as const
    for (const route of attack) {
      route.beginAttempt()
      route.noteFailure(BARE_500)
    }
    expect(await waiting[0]).toMatchObject({ reason: 'agent_unavailable', retryAfterSeconds: 5 })
    for (const route of attack) route.leave()
    ;(await waiting[1]).leave()
    expect((await refusal(test.enter({ caller: eve }))).reason).toBe('agent_unavailable')
    for (let call = 0; call < 20; call += 1) succeed(test, ada)
    expect(test.changes).toEqual([])
    expect(test.refusedOwners).toEqual([
      { agent: 'dify', deployment: 'main', ownerId: 'eve', failure: BARE_500.failure },
    ])
    expect(test.routes.load()[0]).toMatchObject({ deployments: [{ breaker: 'closed' }] })
  })

  test('a single caller that is refused leaves no way to the deployment, which is told as open', async () => {
    const test = routesOf()
    fail(test, [ada, ada, ada, ada, ada])
    expect(test.changes).toMatchObject([{ breaker: 'open' }])
    expect(test.refusedOwners).toEqual([])
    expect(test.routes.load()[0]).toMatchObject({
      deployments: [{ breaker: 'open', servesOthers: true, openSince: 1_000, reason: 'agent_error' }],
    })
    succeed(test, bob)
    expect(test.changes).toMatchObject([{ breaker: 'open' }, { breaker: 'closed' }])
    const [deployment] = test.routes.load()[0]?.deployments ?? []
    expect(deployment).toEqual({ id: 'main', breaker: 'closed', inFlight: 0 })
  })

  test('five calls of two owners that fail are seen, and one call of another one ends it', async () => {
    const test = routesOf()
    fail(test, [ada, bob, ada, bob, ada])
    expect(test.changes).toMatchObject([{ breaker: 'open', failure: BARE_500.failure }])
    for (const caller of [ada, bob])
      expect((await refusal(test.enter({ caller }))).reason).toBe('agent_unavailable')
    succeed(test, eve)
    succeed(test, ada)
    expect(test.changes).toMatchObject([{ breaker: 'open' }, { breaker: 'closed' }])
  })

  test('a refused credential rests for the owner whose call was refused, and others go on with it', () => {
    const test = routesOf(agentWith([{ id: 'main' }, { id: 'spare', priority: 1 }]))
    const placeOf = (caller: Caller) => {
      const route = atOnce(test.enter({ caller }))
      route.leave()
      return route.deployment.id
    }
    fail(test, [eve], LIMITED)
    expect([eve, ada].map(placeOf)).toEqual(['spare', 'main'])
    fail(test, [ada], LIMITED)
    expect([eve, ada, bob].map(placeOf)).toEqual(['spare', 'spare', 'spare'])
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
      concurrency: { max: 2, perOwner: undefined, perKey: undefined, queue: 2, waitMs: 1_000, ...more },
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
    const loud = Array.from({ length: 20 }, () => test.enter({ caller: callerOf('loud') }))
    const outcomes = Promise.allSettled(loud)
    expect(atOnce(test.enter({ caller: callerOf('quiet') })).deployment.id).toBe('main')
    atOnce(loud[0] ?? missing()).leave()
    atOnce(loud[1] ?? missing()).leave()
    await vi.advanceTimersByTimeAsync(1_000)
    const statuses = (await outcomes).map(({ status }) => status)
    expect(statuses.filter((status) => status === 'fulfilled')).toHaveLength(4)
  })

  test('an owner with many keys leaves slots and turns to others', async () => {
    const test = routesOf(bounded({ max: 4, perOwner: 3, queue: 9 }))
    const loud = [1, 2, 3, 4, 5, 6].map((key) => test.enter({ caller: callerOf('loud', `key ${key}`) }))
    const held = loud.slice(0, 3).map(atOnce)
    const quiet = atOnce(test.enter({ caller: callerOf('quiet') }))
    const waiting = [test.enter({ caller: callerOf('quiet') }), test.enter({ caller: callerOf('other') })]
    expect(test.routes.load()[0]).toMatchObject({ inFlight: 4, waiting: 5 })
    quiet.leave()
    await waiting[0]
    held[0]?.leave()
    // The owner with many keys has waited longer, and now comes before others.
    await loud[3]
    held[1]?.leave()
    await waiting[1]
    expect(test.routes.load()[0]).toMatchObject({ inFlight: 4, waiting: 2 })
    const shed = Promise.all(loud.slice(4).map(refusal))
    test.routes.drain()
    expect((await shed).map(({ reason }) => reason)).toEqual(['draining', 'draining'])
  })

  test('a deployment with all the calls that it may have leaves them to the others', async () => {
    const agent = agentWith(
      [
        { id: 'main', max: 1 },
        { id: 'us', max: 1 },
      ],
      {
        concurrency: { max: undefined, perOwner: undefined, perKey: undefined, queue: 1, waitMs: 1_000 },
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

function missing(): never {
  throw new Error('no call')
}

describe('an agent that is replaced', () => {
  const at = (more: object, concurrency?: object) =>
    agentWith([{ id: 'main', ...more }], {
      ...(concurrency !== undefined && {
        concurrency: {
          max: undefined,
          perOwner: undefined,
          perKey: undefined,
          queue: 9,
          waitMs: 1_000,
          ...concurrency,
        },
      }),
    })
  const down = (test: ReturnType<typeof routesOf>) =>
    fail(
      test,
      [1, 2, 3, 4, 5].map((owner) => callerOf(`owner ${owner}`)),
      REFUSED,
    )

  test.each([
    ['stays refused where address and credentials are the same', { weight: 5 }, 'agent_unavailable'],
    ['is tried at once at another address', { agent: { baseUrl: 'https://new.example' } }, undefined],
    ['is tried at once with another key', { agent: { apiKey: 'another' } }, undefined],
  ])('with a deployment that is down %s', async (_name, more, reason) => {
    const test = routesOf(at({}))
    down(test)
    expect((await refusal(test.enter())).reason).toBe('agent_unavailable')
    test.replace(at(more))
    if (reason === undefined) atOnce(test.enter()).leave()
    else expect((await refusal(test.enter())).reason).toBe(reason)
  })

  test('shares its slots with the calls that began before, whose ends free them', async () => {
    const test = routesOf(at({}, { max: 2 }))
    const before = [atOnce(test.enter()), atOnce(test.enter())]
    const waits = test.enter()
    test.replace(at({ weight: 5 }, { max: 2 }))
    const waitsToo = test.enter()
    expect(test.routes.load()[0]).toMatchObject({ inFlight: 2, waiting: 2 })
    before[0]?.leave()
    expect((await waits).deployment.weight).toBe(1)
    before[1]?.leave()
    expect((await waitsToo).deployment.weight).toBe(5)
    for (const route of await Promise.all([waits, waitsToo])) route.leave()
    expect(test.routes.load()[0]).toMatchObject({ inFlight: 0, waiting: 0 })
  })

  test('lets calls go on that have waited where it has more slots', async () => {
    const test = routesOf(at({}, { max: 1 }))
    const first = atOnce(test.enter())
    const waits = test.enter()
    test.replace(at({}, { max: 2 }))
    await waits
    first.leave()
  })

  test('counts the calls of an owner that began before there was a limit for it', async () => {
    const test = routesOf(at({}))
    const before = [atOnce(test.enter()), atOnce(test.enter())]
    test.replace(at({}, { perOwner: 2, queue: 0 }))
    expect((await refusal(test.enter())).reason).toBe('agent_overloaded')
    for (const route of before) route.leave()
    for (const route of [atOnce(test.enter()), atOnce(test.enter())]) route.leave()
  })
})
