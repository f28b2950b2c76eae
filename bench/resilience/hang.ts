import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startDnsServer } from '../../apps/gateway/src/core/agents/upstream/names/dns-server.test-support.ts'
import { counted, type Figures, ms } from '../figures/parts.ts'
import { cpuUs, waitedUs } from '../figures/process-usage.ts'
import { median, quantile } from '../figures/quantile.ts'
import { run } from '../load/load.ts'
import { type Answered, paceCalls } from '../load/paced-calls.ts'
import { type StartedLoad, startLoad } from '../load/start-load.ts'
import { GATEWAYS_MODEL, JSON_CALL } from '../load/workload.ts'
import { leaveServerCore, OTHER_CORE } from '../servers/cores.ts'
import type { GatewayTarget, GatewayUser } from '../servers/gateway.ts'
import type { Stage } from '../stage.ts'

const ROUNDS = 5
const SECONDS = 60
const QUICK_SECONDS = 15
const FAILING_PER_SECOND = 200
const STEADY_PER_SECOND = 50
const SLOTS = { max: 100, perKey: 100, queue: 50, waitMs: 1_000 }
const ADDED_MS_MAX = 10
const ADDED_SHARE_MAX = 0.1
const REFUSED_WITHIN_MS = 50
const WARM_UP = { calls: 3_000, concurrency: 16 }
const QUICK_WARM_UP = { calls: 500, concurrency: 16 }
const LOGIN_EVERY_MS = 250
/** After two look-ups of 2 s for each call that is repeated, and a pause between them. */
const OPEN_AFTER_MS = 8_000
const WARM_UP_MS = 3_000
/** The heap may grow by what calls leave in caches and counters. */
const HEAP_ADDED_MAX = 8e6

/** Another tenant's calls while the platform of one agent accepts connections and never answers. */
export async function measureHang(stage: Stage, figures: Figures): Promise<void> {
  const silent = await stage.child('silent-platform.ts', OTHER_CORE)
  await measureBeside(stage, figures, { part: 'hang', failing: `${silent.origin}/v1` })
}

/** The same while the name server of the platform's host name never answers, and other users log in. */
export async function measureNames(stage: Stage, figures: Figures): Promise<void> {
  const names = await startDnsServer()
  names.isSilent = true
  stage.atEnd(names.close)
  const folder = await mkdtemp(join(tmpdir(), 'trunkline-bench-'))
  stage.atEnd(() => rm(folder, { recursive: true }))
  const resolverConfigFile = join(folder, 'resolv.conf')
  await writeFile(resolverConfigFile, `nameserver ${names.address}\n`)
  const failing = 'http://platform.example:8080/v1'
  await measureBeside(stage, figures, { part: 'names', failing, resolverConfigFile })
  const isAsked = { text: 'at least one', isHeld: names.queries.length > 0 }
  figures.add('names', `${names.queries.length} questions reached the silent name server`, isAsked)
}

/** Makes the calls for so many milliseconds, and returns their answers. */
type PacedCalls = StartedLoad<number, readonly Answered[]>

interface Fault {
  readonly part: string
  /** The base URL of the agent that fails. */
  readonly failing: string
  readonly resolverConfigFile?: string
}

interface Beside {
  readonly steady: readonly Answered[]
  readonly failing: readonly Answered[]
  readonly loginsMs: readonly number[]
  /** Of each second, how long the gateway computed, and how long it waited for its core because others had it. */
  readonly cpuMs: number
  readonly waitedMs: number
}

async function measureBeside(stage: Stage, figures: Figures, fault: Fault): Promise<void> {
  stage.atEnd(leaveServerCore())
  const { part, failing, resolverConfigFile } = fault
  const database = await stage.database()
  const platform = await stage.platform()
  const openai = { platform: 'openai', model: GATEWAYS_MODEL }
  const gateway = await stage.gateway(database.url, platform.origin, {
    settings: {
      agents: {
        bench: { ...openai, baseUrl: `${platform.origin}/v1` },
        failing: { ...openai, baseUrl: failing, concurrency: SLOTS },
      },
    },
    isInspected: true,
    ...(resolverConfigFile !== undefined && { resolverConfigFile }),
  })
  await run(gateway, JSON_CALL, stage.isQuick ? QUICK_WARM_UP : WARM_UP)
  await database.pinSessions()
  const other = await gateway.createUser('third')
  const { path, body } = JSON_CALL
  const load: PacedCalls = startLoad(stage, 'paced-load.ts', {
    origin: gateway.origin,
    path,
    headers: { ...gateway.headers, agent: 'failing', authorization: `Bearer ${await gateway.createKey()}` },
    body: body.replace('"bench"', '"failing"'),
    perSecond: FAILING_PER_SECOND,
    leaves: true,
  })
  const seconds = Number(stage.options.seconds ?? (stage.isQuick ? QUICK_SECONDS : SECONDS))
  const lastsMs = (seconds * 1_000) / ROUNDS
  const isNames = resolverConfigFile !== undefined
  const user = isNames ? other : undefined

  // Calls that wait in the queue when the breaker opens are refused then, and not at once: it is open before the first round.
  await measureRound(gateway, { lastsMs: isNames ? OPEN_AFTER_MS : WARM_UP_MS, load, user })
  await pause(SLOTS.waitMs)
  const heapBefore = await gateway.heapBytes()
  const alone: Beside[] = []
  const beside: Beside[] = []
  while (beside.length < ROUNDS) {
    alone.push(await measureRound(gateway, { lastsMs, user }))
    beside.push(await measureRound(gateway, { lastsMs, load, user }))
    // What the clients have left is over, too.
    await pause(SLOTS.waitMs)
  }
  const heapAfter = await gateway.heapBytes()

  compare(figures, part, 'p99 of B', { alone, beside, times: ({ steady }) => steady.map(({ ms }) => ms) })
  if (isNames) compare(figures, part, 'p99 of logins', { alone, beside, times: ({ loginsMs }) => loginsMs })
  for (const [name, all] of Object.entries({ alone, beside })) {
    const [cpu, waited] = [all.map(({ cpuMs }) => cpuMs), all.map(({ waitedMs }) => waitedMs)].map(median)
    figures.add(
      part,
      `the gateway ${name}: ${ms(cpu ?? 0)} of CPU a second, and ${ms(waited ?? 0)} of waiting for a core`,
    )
  }
  const steady = [...alone, ...beside].flatMap((round) => round.steady)
  const errors = steady.filter(({ status }) => status !== 200)
  figures.add(part, `errors of B: ${errors.length} of ${steady.length}`, {
    text: '0',
    isHeld: errors.length === 0 && steady.length > 0,
  })
  reportRefusals(
    figures,
    part,
    beside.flatMap((round) => round.failing),
  )
  figures.add(part, `heap after collection: ${mb(heapBefore)} before, ${mb(heapAfter)} after`, {
    text: `at most + ${mb(HEAP_ADDED_MAX)}`,
    isHeld: heapAfter - heapBefore <= HEAP_ADDED_MAX,
  })
}

async function measureRound(
  gateway: GatewayTarget,
  { lastsMs, load, user }: { lastsMs: number; load?: PacedCalls | undefined; user?: GatewayUser | undefined },
): Promise<Beside> {
  const { origin, headers } = gateway
  const { path, body } = JSON_CALL
  const startedMs = performance.now()
  const before = { cpu: cpuUs(gateway.pid), waited: waitedUs(gateway.pid) }
  const [steady, failing, loginsMs] = await Promise.all([
    paceCalls({ origin, path, headers, body, lastsMs, perSecond: STEADY_PER_SECOND, leaves: false }),
    load?.(lastsMs) ?? [],
    user === undefined ? [] : logins(user, startedMs + lastsMs),
  ])
  // Microseconds of a millisecond are milliseconds of a second.
  const tookMs = performance.now() - startedMs
  const cpuMs = (cpuUs(gateway.pid) - before.cpu) / tookMs
  const waitedMs = (waitedUs(gateway.pid) - before.waited) / tookMs
  return { steady, failing, loginsMs, cpuMs, waitedMs }
}

async function logins(user: GatewayUser, untilMs: number): Promise<number[]> {
  const timesMs: number[] = []
  while (performance.now() < untilMs) {
    const startedMs = performance.now()
    await user.login()
    timesMs.push(performance.now() - startedMs)
    await pause(LOGIN_EVERY_MS)
  }
  return timesMs
}

function compare(
  figures: Figures,
  part: string,
  name: string,
  rounds: {
    alone: readonly Beside[]
    beside: readonly Beside[]
    times: (round: Beside) => readonly number[]
  },
): void {
  const p99 = (all: readonly Beside[]) => median(all.map((round) => quantile(rounds.times(round), 0.99)))
  const alone = p99(rounds.alone)
  const beside = p99(rounds.beside)
  figures.add(part, `${name}: ${ms(alone)} alone, ${ms(beside)} beside`, {
    text: `at most + ${ADDED_MS_MAX} ms or ${ADDED_SHARE_MAX * 100} %`,
    isHeld: beside - alone <= Math.max(ADDED_MS_MAX, ADDED_SHARE_MAX * alone),
  })
}

/** Refusals come at once, or after the whole wait in the queue. */
function reportRefusals(figures: Figures, part: string, answers: readonly Answered[]): void {
  figures.add(
    part,
    `${answers.length} answers to A: ${counted(answers.map(({ status, reason }) => `${status} ${reason ?? ''}`.trim()))}`,
  )
  const refused = answers.filter(({ status }) => status === 503)
  const atOnce = refused.filter(({ ms }) => ms < SLOTS.waitMs / 2).map(({ ms }) => ms)
  const waited = refused.filter(({ ms }) => ms >= SLOTS.waitMs / 2).map(({ ms }) => ms)
  figures.add(
    part,
    `refused at once: ${atOnce.length}, p99 ${ms(quantile(atOnce, 0.99))}, longest ${ms(Math.max(...atOnce))}`,
    {
      text: `within ${REFUSED_WITHIN_MS} ms`,
      isHeld: atOnce.length > 0 && Math.max(...atOnce) <= REFUSED_WITHIN_MS,
    },
  )
  if (waited.length === 0) return
  const lateMs = Math.max(...waited) - SLOTS.waitMs
  figures.add(part, `refused after the queue: ${waited.length}, at most ${ms(lateMs)} late`, {
    text: `within ${REFUSED_WITHIN_MS} ms of waitMs`,
    isHeld: lateMs <= REFUSED_WITHIN_MS,
  })
}

function mb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
