import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { BUSY, fillTenant } from '../data/neighbours-data.ts'
import { printTable } from '../figures/print-table.ts'
import { median, quantile } from '../figures/quantile.ts'
import { runFor } from '../load/load.ts'
import { healthChecks, loadsOf, type NeighbourLoad } from '../load/neighbours-requests.ts'
import { startLoad } from '../load/start-load.ts'
import { KEPT_CALL } from '../load/workload.ts'
import { leaveServerCore } from '../servers/cores.ts'
import { type GatewayTarget, startGateway } from '../servers/gateway.ts'
import type { Stage } from '../stage.ts'

/** How long a load runs before its effect is measured. */
const SETTLING_MS = 1_000
const P50_RATIO_MAX = 2
const P99_ADDED_MS_MAX = { postgres: 50, embedded: 100 } as const
const SETTINGS = { uploads: { bytesPerOwnerMax: 1e15 } }

type Kind = keyof typeof P99_ADDED_MS_MAX

/**
 * How long the chats of one tenant take while another one sends 50 requests at a time from another process, compared in the
 * same run with 20 health checks at a time. It takes about two and a half minutes.
 */
export async function bench(stage: Stage): Promise<void> {
  const { postgres, embedded } = stage.options
  if (!embedded) await measure(stage, 'postgres')
  if (!postgres) await measure(stage, 'embedded')
}

async function measure(stage: Stage, kind: Kind): Promise<void> {
  stage.atEnd(leaveServerCore())
  const scratch = kind === 'postgres' ? await stage.database() : undefined
  const dataDir = await mkdtemp(join(tmpdir(), 'trunkline-bench-'))
  stage.atEnd(() => rm(dataDir, { recursive: true, force: true }))
  const platform = await stage.platform()
  const options = { settings: SETTINGS, env: { DATA_DIR: dataDir } }

  // An embedded database can be filled only while no gateway has it.
  const first = await startGateway(scratch?.url, platform.origin, { ...options, username: BUSY })
  const busy = { token: first.token, authorization: first.headers.authorization ?? '' }
  await first.stop()
  await fillTenant(scratch, dataDir)
  const gateway = await stage.gateway(scratch?.url, platform.origin, { ...options, username: 'quiet' })
  await scratch?.pinSessions()
  await runFor(gateway, KEPT_CALL, stage.isQuick ? 1_500 : 4_000)

  const alone = await chatsBeside(stage, gateway, undefined)
  const beside: Beside[] = []
  const health = await chatsBeside(stage, gateway, healthChecks(gateway.origin))
  for (const [name, load] of Object.entries(loadsOf({ ...busy, origin: gateway.origin }))) {
    beside.push({ name, ...(await chatsBeside(stage, gateway, load)) })
    await scratch?.pinSessions()
  }
  // Twice, since the machine may have become slower or faster meanwhile.
  const again = await chatsBeside(stage, gateway, healthChecks(gateway.origin))
  const yardstick = { timesMs: [...health.timesMs, ...again.timesMs] }
  const compared = (name: string, times: Chats) => row(name, times, yardstick, P99_ADDED_MS_MAX[kind])
  const place = kind === 'postgres' ? `PostgreSQL ${scratch?.version}` : 'the embedded database'
  printTable(
    `chats on ${place}, beside | chats | p50 | p99 | p50 compared | p99 compared | aim | reached | answers to the other tenant`,
    [
      compared('nothing', alone).slice(0, 6),
      compared('20 × `/healthz`', { ...yardstick, answers: '' }).slice(0, 4),
      ...beside.map(({ name, ...chats }) => compared(`50 × ${name}`, chats)),
    ],
  )
  await stage.clear()
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
async function chatsBeside(
  stage: Stage,
  gateway: GatewayTarget,
  load: NeighbourLoad | undefined,
): Promise<Chats> {
  const windowMs = stage.isQuick ? 3_000 : 8_000
  if (load === undefined) return { timesMs: await runFor(gateway, KEPT_CALL, windowMs), answers: '' }
  const stop = startLoad<'stop', Record<string, number>>(stage, 'neighbours-load.ts', load)
  await pause(SETTLING_MS)
  const timesMs = await runFor(gateway, KEPT_CALL, windowMs)
  const counts = await stop('stop')
  await pause(SETTLING_MS)
  const answers = Object.entries(counts).map(([status, count]) => `${status}: ${count}`)
  return { timesMs, answers: answers.join(', ') }
}
