import { setTimeout as pause } from 'node:timers/promises'
import { createGraphqlData, type GraphqlData } from '../data/graphql-data.ts'
import { costOf } from '../figures/cost.ts'
import { inTurns, type Pair } from '../figures/pair.ts'
import { printTable } from '../figures/print-table.ts'
import { cpuUs } from '../figures/process-usage.ts'
import { COMPARED, cpuRow } from '../figures/rows.ts'
import { PACED_CHAT, TWINS, USAGE_UPDATED } from '../load/graphql-queries.ts'
import { run, type Target } from '../load/load.ts'
import { OpenStreams } from '../load/open-streams.ts'
import type { Call } from '../load/workload.ts'
import { leaveServerCore } from '../servers/cores.ts'
import type { GatewayTarget } from '../servers/gateway.ts'
import type { Stage } from '../stage.ts'

const CALLS = 500
const CONCURRENCY = 8
const CPU_RATIO_MAX = 2
const CHATS = 200

const SUBSCRIBERS = [0, 1, 1_000]
/** Each key has two subscriptions, as two tabs of a browser have. */
const KEYS = 500

const extentOf = (isQuick: boolean) => ({
  rounds: isQuick ? 2 : 7,
  warmUpCalls: isQuick ? 1_500 : 10_000,
  chatRounds: isQuick ? 1 : 5,
  chatWindowMs: isQuick ? 3_000 : 5_000,
  /** An idle session of PostgreSQL reports its transactions after ten seconds. */
  settlingMs: isQuick ? 3_000 : 11_000,
  windowMs: isQuick ? 4_000 : 10_000,
})
type Extent = ReturnType<typeof extentOf>

/**
 * What a GraphQL query costs the gateway, compared with the same data through REST in the same process, and what live usage
 * costs with many subscribers.
 */
export async function bench(stage: Stage): Promise<void> {
  const extent = extentOf(stage.isQuick)
  stage.atEnd(leaveServerCore())
  const { database, gateway } = await stage.servers()
  const data = await createGraphqlData(database.url)
  stage.atEnd(data.close)
  await database.pinSessions()

  const rows: string[][] = []
  for (const { name, rest, graphql } of TWINS) {
    const costs = await compareQueries(asUser(gateway), { base: rest, tested: graphql }, extent)
    rows.push(cpuRow(name, costs, CPU_RATIO_MAX))
    await database.pinSessions()
  }
  const chats = await compareChats(gateway, extent)
  rows.push(cpuRow(`an item of a chat, ${CHATS} at once, 100 ms apart`, chats, CPU_RATIO_MAX))
  printTable(`CPU of the gateway | REST | GraphQL | ${COMPARED}`, rows)
  printTable(
    'live usage | statements a second | items a second | CPU of the gateway',
    await liveUsage(gateway, data, extent),
  )
}

function asUser({ pid, origin, token }: GatewayTarget): Target {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
  return { pid, origin, headers }
}

/** The cost of a request, alternately by REST and by GraphQL. */
async function compareQueries(
  target: Target,
  calls: Pair<Call>,
  { rounds, warmUpCalls }: Extent,
): Promise<Pair<number>[]> {
  for (const call of [calls.base, calls.tested]) {
    await run(target, call, { calls: warmUpCalls, concurrency: CONCURRENCY })
  }
  return inTurns(rounds, calls, async (call) => {
    const cost = await costOf(target, call, { calls: CALLS, concurrency: CONCURRENCY })
    return cost.cpuUs / CALLS
  })
}

/** The cost of an item of a chat, alternately of a chunk of REST's event stream and of an item of a subscription. */
async function compareChats(
  gateway: GatewayTarget,
  { chatRounds, chatWindowMs }: Extent,
): Promise<Pair<number>[]> {
  const target = { ...gateway, headers: { ...gateway.headers, accept: 'text/event-stream' } }
  const calls = { base: PACED_CHAT.rest, tested: PACED_CHAT.graphql }
  const rounds = await inTurns(chatRounds + 1, calls, (call) => itemCostOf(target, call, chatWindowMs))
  // The first round warms up.
  return rounds.slice(1)
}

async function itemCostOf(target: Target, call: Call, windowMs: number): Promise<number> {
  const streams = new OpenStreams(target)
  try {
    await streams.upTo(CHATS, call)
    await pause(2_000)
    const before = { cpuUs: cpuUs(target.pid), items: streams.seen.chunks }
    await pause(windowMs)
    return (cpuUs(target.pid) - before.cpuUs) / (streams.seen.chunks - before.items)
  } finally {
    await streams.close()
    await pause(1_000)
  }
}

/** With nothing to report, and with a change in every tick. */
async function liveUsage(gateway: GatewayTarget, data: GraphqlData, extent: Extent): Promise<string[][]> {
  const keys: string[] = []
  while (keys.length < KEYS) keys.push(await gateway.createKey())
  const rows: string[][] = []
  let open = 0
  const streams = keys.map((key) => new OpenStreams(subscriberOf(gateway, key)))
  for (const subscribers of SUBSCRIBERS) {
    while (open < subscribers) {
      const wanted = Math.min(KEYS, subscribers - open)
      await Promise.all(streams.slice(0, wanted).map((each) => each.upTo(each.open + 1, USAGE_UPDATED)))
      open += wanted
    }
    for (const isChanging of subscribers > 0 ? [false, true] : [false]) {
      rows.push(await windowOf(gateway, data, streams, { ...extent, subscribers, isChanging }))
    }
  }
  await Promise.all(streams.map((each) => each.close()))
  return rows
}

function subscriberOf({ pid, origin }: GatewayTarget, key: string): Target {
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream' }
  return { pid, origin, headers: { ...headers, authorization: `Bearer ${key}` } }
}

async function windowOf(
  { pid }: GatewayTarget,
  data: GraphqlData,
  streams: readonly OpenStreams[],
  { subscribers, isChanging, settlingMs, windowMs }: Extent & { subscribers: number; isChanging: boolean },
): Promise<string[]> {
  const look = async () => ({
    statements: await data.transactions(),
    items: streams.reduce((sum, { seen }) => sum + seen.chunks, 0),
    cpuUs: cpuUs(pid),
    ms: performance.now(),
  })
  await pause(settlingMs)
  const before = await look()
  let changes = 0
  while (performance.now() - before.ms < windowMs) {
    if (isChanging) await data.addCall()
    changes += isChanging ? 1 : 0
    await pause(500)
  }
  await pause(1_500)
  const after = await look()
  const seconds = (after.ms - before.ms) / 1_000
  // The change itself and the question for the number are statements of the bench.
  const statements = after.statements - before.statements - changes - 1
  return [
    `${subscribers.toLocaleString('en')} ${subscribers === 1 ? 'subscriber' : 'subscribers'}${isChanging ? ', a change in every tick' : ''}`,
    (statements / seconds).toFixed(1),
    ((after.items - before.items) / seconds).toFixed(0),
    `${((after.cpuUs - before.cpuUs) / seconds / 10_000).toFixed(1)} %`,
  ]
}
