import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, cpus, platform, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { spawnOn, startChild, stopChild } from './child.ts'
import { OTHER_CORE, pin } from './cores.ts'
import { type GatewayTarget, startGateway } from './gateway.ts'
import { runFor } from './load.ts'
import { BUSY, fillTenant } from './neighbours-data.ts'
import { healthChecks, loadsOf, type NeighbourLoad } from './neighbours-requests.ts'
import { median, quantile } from './quantile.ts'
import { table } from './report.ts'
import { createScratchDatabase } from './scratch-database.ts'
import { KEPT_CALL } from './workload.ts'

/**
 * `pnpm bench:neighbours [--quick] [--postgres | --embedded]` measures how long the chats of one tenant take while another
 * one sends 50 requests at a time from another process, compared in the same run with 20 health checks at a time. It needs
 * what `pnpm bench` needs, and takes about two and a half minutes.
 */
const isQuick = process.argv.includes('--quick')
const KINDS = (['postgres', 'embedded'] as const).filter(
  (kind) => !process.argv.includes(kind === 'postgres' ? '--embedded' : '--postgres'),
)
const WINDOW_MS = isQuick ? 3_000 : 8_000
/** How long a load runs before its effect is measured. */
const SETTLING_MS = 1_000
const WARM_UP_MS = isQuick ? 1_500 : 4_000
const P50_RATIO_MAX = 2
const P99_ADDED_MS_MAX = { postgres: 50, embedded: 100 } as const
const PLENTY = { points: 1_000_000_000 }
const SETTINGS = {
  limits: { chat: PLENTY, upload: PLENTY, reports: PLENTY, calls: PLENTY, reads: PLENTY },
  uploads: { bytesPerOwnerMax: 1e15 },
}

const undo: (() => Promise<unknown>)[] = []
process.once('SIGINT', () => cleanUp().finally(() => process.exit(130)))
process.once('SIGTERM', () => cleanUp().finally(() => process.exit(143)))
try {
  if (platform() !== 'linux' || availableParallelism() < 2)
    throw new Error('the bench needs Linux and two cores')
  if (!pin(process.pid, OTHER_CORE)) throw new Error('the bench needs taskset')
  console.log(`${cpus()[0]?.model}, ${cpus().length} cores; Node ${process.versions.node}.`)
  for (const kind of KINDS) {
    console.log(`\n${table(await measure(kind))}`)
    await cleanUp()
  }
} finally {
  await cleanUp()
}

async function measure(kind: (typeof KINDS)[number]): Promise<string[][]> {
  const scratch = kind === 'postgres' ? await createScratchDatabase() : undefined
  if (scratch !== undefined) undo.push(scratch.drop)
  const dataDir = await mkdtemp(join(tmpdir(), 'trunkline-bench-'))
  undo.push(() => rm(dataDir, { recursive: true, force: true }))
  const mock = await startChild('mock-platform.ts', OTHER_CORE)
  undo.push(mock.stop)
  const start = (username: string) =>
    startGateway(scratch?.url, mock.origin, { settings: SETTINGS, env: { DATA_DIR: dataDir }, username })

  // An embedded database can be filled only while no gateway has it.
  const first = await start(BUSY)
  const busy = { token: first.token, authorization: first.headers.authorization ?? '' }
  await first.stop()
  await fillTenant(scratch, dataDir)
  const gateway = await start('quiet')
  undo.push(gateway.stop)
  await scratch?.pinSessions()
  await runFor(gateway, KEPT_CALL, WARM_UP_MS)

  const loads = { ...loadsOf({ ...busy, origin: gateway.origin }) }
  const alone = await chatsBeside(gateway, undefined)
  const beside: Beside[] = []
  const health = await chatsBeside(gateway, healthChecks(gateway.origin))
  for (const [name, load] of Object.entries(loads)) {
    beside.push({ name, ...(await chatsBeside(gateway, load)) })
    await scratch?.pinSessions()
  }
  // Twice, since the machine may have become slower or faster meanwhile.
  const again = await chatsBeside(gateway, healthChecks(gateway.origin))
  const yardstick = { timesMs: [...health.timesMs, ...again.timesMs] }
  const compared = (name: string, times: Chats) => row(name, times, yardstick, P99_ADDED_MS_MAX[kind])
  return [
    [
      kind === 'postgres'
        ? `chats on PostgreSQL ${scratch?.version}, beside`
        : 'chats on the embedded database, beside',
      ...[
        'chats',
        'p50',
        'p99',
        'p50 compared',
        'p99 compared',
        'aim',
        'reached',
        'answers to the other tenant',
      ],
    ],
    ['---', ...Array.from({ length: 5 }, () => '---:'), '---', '---', '---'],
    [...compared('nothing', alone).slice(0, 6), '', '', ''],
    [...compared('20 × `/healthz`', { ...yardstick, answers: '' }).slice(0, 4), '', '', '', '', ''],
    ...beside.map(({ name, ...chats }) => compared(`50 × ${name}`, chats)),
  ]
}

interface Chats {
  readonly timesMs: readonly number[]
  /** How the load was answered, such as `200: 312, 429: 36`. */
  readonly answers: string
}

interface Beside extends Chats {
  readonly name: string
}

function row(
  name: string,
  { timesMs, answers }: Chats,
  yardstick: Pick<Chats, 'timesMs'>,
  p99AddedMsMax: number,
): string[] {
  const [p50, p99] = [median(timesMs), quantile(timesMs, 0.99)]
  const ratio = p50 / median(yardstick.timesMs)
  const addedMs = p99 - quantile(yardstick.timesMs, 0.99)
  return [
    name,
    String(timesMs.length),
    `${p50.toFixed(1)} ms`,
    `${p99.toFixed(1)} ms`,
    `× ${ratio.toFixed(2)}`,
    `${addedMs < 0 ? '−' : '+'} ${Math.abs(addedMs).toFixed(1)} ms`,
    `≤ × ${P50_RATIO_MAX}, ≤ + ${p99AddedMsMax} ms`,
    ratio <= P50_RATIO_MAX && addedMs <= p99AddedMsMax ? 'yes' : 'no',
    answers,
  ]
}

/** How long chats take, one after the other, while this load runs in a process of its own. */
async function chatsBeside(gateway: GatewayTarget, load: NeighbourLoad | undefined): Promise<Chats> {
  if (load === undefined) return { timesMs: await runFor(gateway, KEPT_CALL, WINDOW_MS), answers: '' }
  const script = join(import.meta.dirname, 'neighbours-load.ts')
  const child = spawnOn(OTHER_CORE, [script, JSON.stringify(load)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  undo.push(() => stopChild(child))
  await pause(SETTLING_MS)
  const timesMs = await runFor(gateway, KEPT_CALL, WINDOW_MS)
  const reported = once(child, 'message')
  child.send('stop')
  const [counts] = (await reported) as [Record<string, number>]
  await pause(SETTLING_MS)
  const answers = Object.entries(counts).map(([status, count]) => `${status}: ${count}`)
  return { timesMs, answers: answers.join(', ') }
}

async function cleanUp(): Promise<void> {
  for (const step of undo.splice(0).reverse()) await step()
}
