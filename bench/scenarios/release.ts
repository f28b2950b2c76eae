import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { query } from '../../test/support/query.ts'
import { startPacedPlatform } from '../../test/support/rolling/paced-platform.ts'
import { type ProxyServer, startProxy } from '../../test/support/rolling/proxy.ts'
import { RollingLoad, type Seen } from '../../test/support/rolling/rolling-load.ts'
import { type RollingReplica, startRollingReplica } from '../../test/support/rolling/rolling-replicas.ts'
import { until } from '../../test/support/until.ts'
import { printTable } from '../figures/print-table.ts'
import type { Stage } from '../stage.ts'

const THIS_CHECKOUT = join(import.meta.dirname, '../..')
const PROXIES = ['haproxy', 'nginx at its defaults'] as const
const STREAM_MS = { min: 1_000, max: 20_000 }
const CALLS_PER_SECOND = 30
/**
 * How long a replica is ready before the next one stops, as `minReadySeconds` of Kubernetes. Nginx at its defaults sends one
 * request to a gateway that refused a connection after ten seconds, and others once it has ended: that may be a stream.
 */
const READY_MS = 10_000 + STREAM_MS.max
/** How many lines of a log are printed. */
const WARNINGS_MAX = 20
const SETTLED_WITHIN_MS = 30_000
const PLENTY = { points: 1_000_000_000 }

/**
 * Two replicas in production's settings are updated to another version and back, one after the other, while clients keep
 * streams open and make calls through real proxies. Nothing may be refused or broken, and the ledger has what the clients
 * counted.
 */
export async function bench(stage: Stage): Promise<void> {
  const { from = THIS_CHECKOUT, to = THIS_CHECKOUT, rolls = '10', streams = '300' } = stage.options
  const versions = { from: mainOf(from), to: mainOf(to) }
  const database = await stage.database()
  const platform = await startPacedPlatform()
  stage.atEnd(platform.close)
  const config = JSON.stringify({
    agents: { paced: { platform: 'openai', baseUrl: platform.baseUrl, model: 'paced' } },
    limits: { chat: PLENTY, agents: PLENTY },
  })
  await migrate(versions.from, config, database.url)

  let main = versions.from
  const replicas: RollingReplica[] = []
  for (const _replica of ['a', 'b']) {
    const replica = await startRollingReplica({
      config,
      databaseUrl: database.url,
      env: { NODE_ENV: 'production' },
      get main() {
        return main
      },
    })
    stage.atEnd(replica.gateway.remove)
    replicas.push(replica)
  }
  const [a, b] = replicas as [RollingReplica, RollingReplica]
  const { full_key: key } = await a.api.createKey(await a.api.login())
  const proxies: ProxyServer[] = []
  for (const kind of PROXIES) {
    const proxy = await startProxy(kind, [a, b])
    stage.atEnd(proxy.stop)
    proxies.push(proxy)
  }

  const count = Number(streams)
  const loads = proxies.map(({ url }) => {
    const load = { streams: count, streamMs: STREAM_MS, callsPerSecond: CALLS_PER_SECOND }
    return new RollingLoad({ url, key, agent: 'paced', ...load })
  })
  await until('the streams are open', () => loads.every(({ open }) => open > count * 0.9))
  const codes: (number | null)[] = []
  for (let roll = 1; roll <= Number(rolls); roll += 1) {
    for (const direction of ['to', 'from'] as const) {
      main = versions[direction]
      // There is no way back for a database: the older version runs on the newer one.
      if (direction === 'to') await migrate(main, config, database.url)
      for (const replica of replicas) {
        codes.push(await replica.restart())
        await pause(READY_MS)
      }
      console.log(
        `${new Date().toISOString()} ${roll} ${direction}: ${loads.map(({ seen }) => summaryOf(seen)).join(' | ')}`,
      )
    }
  }
  const seen = await Promise.all(loads.map((load) => load.stop()))
  for (const line of replicas.flatMap(({ gateway }) => warningsOf(gateway.output))) console.log(line)
  await report(database.url, {
    seen,
    codes,
    versions: [from, to, from].map((path) => basename(resolve(path))).join(' → '),
    rolls,
    streams,
  })
}

interface Result {
  readonly seen: readonly Seen[]
  readonly codes: readonly (number | null)[]
  readonly versions: string
  readonly rolls: string
  readonly streams: string
}

async function report(databaseUrl: string, result: Result): Promise<void> {
  const { seen, codes, versions, rolls, streams } = result
  const done = seen.reduce((sum, each) => sum + each.done, 0)
  // The end of a call is written after its reply.
  const ledger = await until(
    'the ends of all calls are written',
    () => settledCalls(databaseUrl),
    SETTLED_WITHIN_MS,
  )
  printTable(
    `${rolls} × (${versions}), ${streams} streams | done | refused | broken`,
    seen.map((each, index) => [
      PROXIES[index] ?? '',
      String(each.done),
      textOf(each.refused),
      textOf(each.broken),
    ]),
  )
  const failures = codes.filter((code) => code !== 0)
  console.log(`Clients: ${done} done. Ledger: ${textOf(ledger)}.`)
  console.log(`${codes.length} restarts, of which ${failures.length} did not end with 0.`)
  const isClean = seen.every(({ refused, broken }) => Object.keys({ ...refused, ...broken }).length === 0)
  const isReached = isClean && failures.length === 0 && textOf(ledger) === `done: ${done}`
  console.log(
    `The aim, nothing refused or broken and the same count in the ledger, is ${isReached ? '' : 'not '}reached.`,
  )
  if (!isReached) process.exitCode = 1
}

/** Undefined while calls are open. */
async function settledCalls(databaseUrl: string): Promise<Record<string, number> | undefined> {
  const rows = await query<{ outcome: string | null; count: number }>(
    databaseUrl,
    'SELECT outcome::text, count(*)::int FROM calls GROUP BY outcome ORDER BY outcome',
  )
  if (rows.some(({ outcome }) => outcome === null)) return undefined
  return Object.fromEntries(rows.map(({ outcome, count }) => [String(outcome), count]))
}

/** What the log of a replica complains of; without an outage there is nothing. */
function warningsOf(output: string): string[] {
  const lines = output.split('\n').filter((line) => /^\{"level":"(?:warn|error|fatal)"/.test(line))
  return lines.slice(0, WARNINGS_MAX)
}

function summaryOf({ done, refused, broken }: Seen): string {
  return `${done} done, refused ${textOf(refused)}, broken ${textOf(broken)}`
}

function textOf(counts: Readonly<Record<string, number>>): string {
  return (
    Object.entries(counts)
      .map(([name, count]) => `${name}: ${count}`)
      .join(', ') || '0'
  )
}

/** The program of a checkout, or the path of the program itself, such as that of an installed package. */
function mainOf(path: string): string {
  return path.endsWith('.js') ? resolve(path) : resolve(path, 'apps/gateway/bin/trunkline.js')
}

async function migrate(main: string, config: string, databaseUrl: string): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'trunkline-bench-'))
  await writeFile(join(home, 'gateway.config.yaml'), config)
  const env = { PATH: process.env.PATH, NODE_ENV: 'production', DATABASE_URL: databaseUrl }
  await promisify(execFile)(process.execPath, [main, 'migrate'], { cwd: home, env })
  await rm(home, { recursive: true })
}
