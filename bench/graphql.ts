import { availableParallelism, platform } from 'node:os'
import { startChild } from './child.ts'
import { OTHER_CORE, pin } from './cores.ts'
import { type GatewayTarget, startGateway } from './gateway.ts'
import { createGraphqlData, type GraphqlData } from './graphql-data.ts'
import { PACED_CHAT, TWINS, USAGE_UPDATED } from './graphql-queries.ts'
import { run, type Target } from './load.ts'
import { type Pair, settled } from './measure.ts'
import { OpenStreams } from './open-streams.ts'
import { cpuUs } from './process-usage.ts'
import { cpuRow, RULE, table } from './report.ts'
import { createScratchDatabase } from './scratch-database.ts'
import type { Call } from './workload.ts'

/**
 * `pnpm bench:graphql [--quick]` measures what a GraphQL query costs the gateway, compared with the same data through REST in
 * the same process, and what live usage costs with many subscribers. It needs what `pnpm bench` needs.
 */
const isQuick = process.argv.includes('--quick')
const ROUNDS = isQuick ? 2 : 7
const CALLS = 500
const WARM_UP_CALLS = isQuick ? 1_500 : 10_000
const CONCURRENCY = 8
const CPU_RATIO_MAX = 2
const COMPARED = ['compared (least–most)', 'aim', 'reached']

const CHATS = 200
const CHAT_ROUNDS = isQuick ? 1 : 5
const CHAT_WINDOW_MS = isQuick ? 3_000 : 5_000

const SUBSCRIBERS = [0, 1, 1_000]
/** Each key has two subscriptions, as two tabs of a browser have. */
const KEYS = 500
/** An idle session of PostgreSQL reports its transactions after ten seconds. */
const SETTLING_MS = isQuick ? 3_000 : 11_000
const WINDOW_MS = isQuick ? 4_000 : 10_000

const undo: (() => Promise<unknown>)[] = []
process.once('SIGINT', () => cleanUp().finally(() => process.exit(130)))
process.once('SIGTERM', () => cleanUp().finally(() => process.exit(143)))
try {
  await bench()
} finally {
  await cleanUp()
}

async function bench(): Promise<void> {
  if (platform() !== 'linux' || availableParallelism() < 2)
    throw new Error('the bench needs Linux and two cores')
  if (!pin(process.pid, OTHER_CORE)) throw new Error('the bench needs taskset')
  const database = await createScratchDatabase()
  undo.push(database.drop)
  const mock = await startChild('mock-platform.ts', OTHER_CORE)
  undo.push(mock.stop)
  const gateway = await startGateway(database.url, mock.origin)
  undo.push(gateway.stop)
  const data = await createGraphqlData(database.url)
  undo.push(data.close)
  await database.pinSessions()

  const rows: string[][] = []
  for (const { name, rest, graphql } of TWINS) {
    rows.push(cpuRow(name, await compare(asUser(gateway), rest, graphql), CPU_RATIO_MAX))
    await database.pinSessions()
  }
  rows.push(
    cpuRow(`an item of a chat, ${CHATS} at once, 100 ms apart`, await compareChats(gateway), CPU_RATIO_MAX),
  )
  console.log(`\n${table([['CPU of the gateway', 'REST', 'GraphQL', ...COMPARED], RULE, ...rows])}\n`)
  console.log(`${table(await liveUsage(gateway, data))}\n`)
}

function asUser({ pid, origin, token }: GatewayTarget): Target {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
  return { pid, origin, headers }
}

/** The cost of a request, alternately by REST and by GraphQL, in the form of `report.ts`. */
async function compare(target: Target, rest: Call, graphql: Call): Promise<Pair<number>[]> {
  for (const call of [rest, graphql])
    await run(target, call, { calls: WARM_UP_CALLS, concurrency: CONCURRENCY })
  const rounds: Pair<number>[] = []
  while (rounds.length < ROUNDS) {
    rounds.push({ passThrough: await costOf(target, rest), gateway: await costOf(target, graphql) })
  }
  return rounds
}

async function costOf(target: Target, call: Call): Promise<number> {
  const beforeUs = cpuUs(target.pid)
  await run(target, call, { calls: CALLS, concurrency: CONCURRENCY })
  await settled()
  return (cpuUs(target.pid) - beforeUs) / CALLS
}

/** The cost of an item of a chat, alternately of a chunk of REST's event stream and of an item of a subscription. */
async function compareChats(gateway: GatewayTarget): Promise<Pair<number>[]> {
  const target = { ...gateway, headers: { ...gateway.headers, accept: 'text/event-stream' } }
  const rounds: Pair<number>[] = []
  // The first round warms up.
  while (rounds.length < CHAT_ROUNDS + 1) {
    rounds.push({
      passThrough: await itemCostOf(target, PACED_CHAT.rest),
      gateway: await itemCostOf(target, PACED_CHAT.graphql),
    })
  }
  return rounds.slice(1)
}

async function itemCostOf(target: Target, call: Call): Promise<number> {
  const streams = new OpenStreams(target)
  try {
    await streams.upTo(CHATS, call)
    await passed(2_000)
    const before = { cpuUs: cpuUs(target.pid), items: streams.seen.chunks }
    await passed(CHAT_WINDOW_MS)
    return (cpuUs(target.pid) - before.cpuUs) / (streams.seen.chunks - before.items)
  } finally {
    await streams.close()
    await passed(1_000)
  }
}

/** With nothing to report, and with a change in every tick. */
async function liveUsage(gateway: GatewayTarget, data: GraphqlData): Promise<string[][]> {
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
    rows.push(await windowOf(gateway, data, streams, { subscribers, isChanging: false }))
    if (subscribers > 0) rows.push(await windowOf(gateway, data, streams, { subscribers, isChanging: true }))
  }
  await Promise.all(streams.map((each) => each.close()))
  return [
    ['live usage', 'statements a second', 'items a second', 'CPU of the gateway'],
    RULE.slice(0, 4),
    ...rows,
  ]
}

function subscriberOf({ pid, origin }: GatewayTarget, key: string): Target {
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream' }
  return { pid, origin, headers: { ...headers, authorization: `Bearer ${key}` } }
}

async function windowOf(
  { pid }: GatewayTarget,
  data: GraphqlData,
  streams: readonly OpenStreams[],
  { subscribers, isChanging }: { subscribers: number; isChanging: boolean },
): Promise<string[]> {
  const look = async () => ({
    statements: await data.transactions(),
    items: streams.reduce((sum, { seen }) => sum + seen.chunks, 0),
    cpuUs: cpuUs(pid),
    ms: performance.now(),
  })
  await passed(SETTLING_MS)
  const before = await look()
  let changes = 0
  while (performance.now() - before.ms < WINDOW_MS) {
    if (isChanging) await data.addCall()
    changes += isChanging ? 1 : 0
    await passed(500)
  }
  await passed(1_500)
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

function passed(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

async function cleanUp(): Promise<void> {
  for (const step of undo.splice(0).reverse()) await step()
}
