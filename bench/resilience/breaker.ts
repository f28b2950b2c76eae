import { setTimeout as pause } from 'node:timers/promises'
import { request } from 'undici'
import type { SandboxAgent } from '../../packages/sandbox/src/index.ts'
import { query } from '../../test/support/query.ts'
import { until } from '../../test/support/until.ts'
import { leaveServerCore } from '../servers/cores.ts'
import type { GatewayTarget } from '../servers/gateway.ts'
import type { Stage } from '../stage.ts'
import { type ChatAnswer, Clients } from './clients.ts'
import { entryOf, startEmulators } from './emulators.ts'
import { counted, type Figures } from './figures.ts'

const PART = 'breaker'
const OUTAGES = ['refuse', 'reset', 'hang', '500', '503'] as const
const FAILURES_MAX = 5
const CALLS_MAX = 20
const TIMEOUTS = { firstByteMs: 300 }
const PER_SECOND = 20
const CLOSED_WITHIN_MS = 10_000
const GIVEN_UP_MS = 60_000
const AGAIN_MS = 250
/** How long the call takes that is let through, so that others would be seen beside it. */
const TRIAL_MS = 400
const TRIALS_SECONDS = 20
const QUICK_TRIALS_SECONDS = 8
/** After 5 s, and then after 10 s and 20 s; the first probe may come at once. */
const TRIALS_MAX = 4
const HARMLESS = 1_000
const QUICK_HARMLESS = 60
const AT_ONCE = 20
const LEAVE_MS = 60
const HARMLESS_PLATFORMS = ['dify', 'fastgpt', 'openai'] as const
/** A server of this kind reports the failure of a run as HTTP 500, which is a failure of the deployment. */
const WITHOUT_RUNS = 'openai'
const HARMLESS_QUERIES = {
  'rate limits (429)': 'sandbox:error=rate-limit',
  'refused inputs (400)': 'sandbox:error=rejected',
  'failed runs': 'sandbox:error-midstream',
  'runs that fail at once': 'sandbox:error-first',
  'clients that leave': 'sandbox:hang',
}

/** When a breaker opens and closes, and what it lets through meanwhile. */
export async function measureBreaker(stage: Stage, figures: Figures): Promise<void> {
  stage.atEnd(leaveServerCore())
  const { agents: emulators } = await startEmulators(stage)
  const database = await stage.database()
  const openai = entryOf('openai', emulators.openai)
  const gateway = await stage.gateway(database.url, emulators.openai.baseUrl, {
    settings: {
      agents: {
        ...Object.fromEntries(OUTAGES.map((outage) => [agentOf(outage), { ...openai, timeouts: TIMEOUTS }])),
        // The time of their calls is not that of a failure.
        ...Object.fromEntries(OUTAGES.map((outage) => [`${agentOf(outage)}-back`, openai])),
        failing: openai,
        ...Object.fromEntries(HARMLESS_PLATFORMS.map((each) => [each, entryOf(each, emulators[each])])),
      },
    },
  })
  const clients = new Clients(gateway)
  stage.atEnd(() => clients.close())
  const test = { clients, gateway, figures, databaseUrl: database.url, openai: emulators.openai }
  for (const outage of OUTAGES) await measureOpening(test, outage)
  for (const outage of ['500', 'refuse'] as const) await measureClosing(test, outage)
  await measureTrials(test, stage.isQuick ? QUICK_TRIALS_SECONDS : TRIALS_SECONDS)
  const calls = Number(stage.options.calls ?? (stage.isQuick ? QUICK_HARMLESS : HARMLESS))
  for (const platform of HARMLESS_PLATFORMS) {
    for (const kind of Object.keys(HARMLESS_QUERIES) as (keyof typeof HARMLESS_QUERIES)[]) {
      if (platform === WITHOUT_RUNS && kind.includes('runs')) continue
      await measureHarmless(test, { platform, kind, calls })
    }
  }
}

interface Test {
  readonly clients: Clients
  readonly gateway: GatewayTarget
  readonly figures: Figures
  readonly databaseUrl: string
  readonly openai: SandboxAgent
}

type Outage = (typeof OUTAGES)[number]

function agentOf(outage: Outage): string {
  return `down-${outage}`
}

async function measureOpening(test: Test, outage: Outage): Promise<void> {
  const { clients, figures, openai } = test
  const agent = agentOf(outage)
  await openai.control.fail(outage)
  const answers: ChatAnswer[] = []
  do {
    answers.push(await clients.ask({ agent, query: 'Hello' }))
  } while (answers.length < CALLS_MAX && answers.at(-1)?.reason !== 'agent_unavailable')
  await openai.control.recover()
  const rows = answers.filter(({ reason }) => reason !== 'agent_unavailable').length
  const [{ attempts } = { attempts: Number.NaN }] = await until('the calls are in the ledger', async () => {
    const found = await query<{ attempts: number; ended: number }>(
      test.databaseUrl,
      'SELECT sum(attempts)::int AS attempts, count(ended_at)::int AS ended FROM calls WHERE agent = $1',
      [agent],
    )
    return found[0]?.ended === rows && found
  })
  const isOpen = answers.at(-1)?.reason === 'agent_unavailable'
  figures.add(
    PART,
    `${outage}: ${isOpen ? 'open' : 'not open'} after ${attempts} failures in ${rows} calls`,
    {
      text: `at most ${FAILURES_MAX}`,
      isHeld: isOpen && attempts >= 1 && attempts <= FAILURES_MAX,
    },
  )
}

/** After the platform's recovery, with calls coming, one call tries it before all others. */
async function measureClosing({ clients, figures, openai }: Test, outage: Outage): Promise<void> {
  const agent = `${agentOf(outage)}-back`
  await openai.control.fail(outage)
  while ((await clients.ask({ agent, query: 'Hello' })).reason !== 'agent_unavailable') await pause(1)
  const chat = { agent, query: `sandbox:slow-first=${TRIAL_MS} Hello after ${outage}` }
  const asking: Promise<ChatAnswer>[] = []
  let answeredMs: number | undefined
  const startedMs = performance.now()
  // Some probes fail before the platform is back.
  const downMs = 3_000
  let recoveredMs = Number.POSITIVE_INFINITY
  // The runs that have begun when the first one ends: others are let through from then on.
  const begun = openai.seen.waitFor(({ runs }) => {
    const ours = runs.filter((run) => run.query === chat.query)
    return ours.some(({ state }) => state !== 'running') && ours.length
  })
  while (answeredMs === undefined && performance.now() - startedMs < GIVEN_UP_MS) {
    if (recoveredMs === Number.POSITIVE_INFINITY && performance.now() - startedMs > downMs) {
      await openai.control.recover()
      recoveredMs = performance.now()
    }
    const answering = clients.ask(chat).then((answer) => {
      if (answer.status === 200) answeredMs ??= performance.now()
      return answer
    })
    asking.push(answering)
    await pause(1_000 / PER_SECOND)
  }
  await Promise.all(asking)
  const closedMs = (answeredMs ?? Number.POSITIVE_INFINITY) - recoveredMs
  figures.add(PART, `${outage}: closed ${(closedMs / 1_000).toFixed(1)} s after the recovery`, {
    text: 'within 10 s',
    isHeld: closedMs <= CLOSED_WITHIN_MS,
  })
  if (answeredMs === undefined) return
  const trials = await begun
  figures.add(PART, `${outage}: ${trials} calls had reached the platform when the first was answered`, {
    text: '1',
    isHeld: trials === 1,
  })
}

/** The platform answers probes, and fails calls. */
async function measureTrials({ clients, figures, openai }: Test, seconds: number): Promise<void> {
  const agent = 'failing'
  const chat = { agent, query: 'sandbox:error=server Hello' }
  while ((await clients.ask(chat)).reason !== 'agent_unavailable') await pause(1)
  const before = callsAt(openai)
  const asking: Promise<ChatAnswer>[] = []
  const endMs = performance.now() + seconds * 1_000
  while (performance.now() < endMs) {
    asking.push(clients.ask(chat))
    await pause(AGAIN_MS)
  }
  await Promise.all(asking)
  const trials = callsAt(openai) - before
  figures.add(PART, `calls fail behind a working probe: ${trials} let through in ${seconds} s`, {
    text: `at most ${TRIALS_MAX}`,
    isHeld: trials <= TRIALS_MAX,
  })
}

function callsAt({ seen }: SandboxAgent): number {
  return seen.requests.filter(({ method }) => method === 'POST').length
}

async function measureHarmless(
  { clients, gateway, figures }: Test,
  { platform, kind, calls }: { platform: string; kind: keyof typeof HARMLESS_QUERIES; calls: number },
): Promise<void> {
  const text = HARMLESS_QUERIES[kind]
  const isLeaving = kind === 'clients that leave'
  const answers: string[] = []
  let left = calls
  const worker = async () => {
    while (left > 0) {
      left -= 1
      const signal = isLeaving ? { signal: AbortSignal.timeout(LEAVE_MS) } : {}
      const { status, reason } = await clients.ask({ agent: platform, query: `${text} Hello`, ...signal })
      answers.push(status === 0 ? 'left' : `${status} ${reason ?? ''}`.trim())
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  const states = await breakersOf(gateway, platform)
  const good = await clients.ask({ agent: platform, query: 'Hello' })
  const isHeld =
    states.every((state) => state === 0) &&
    good.status === 200 &&
    !answers.some((each) => each.includes('unavailable'))
  figures.add(
    PART,
    `${platform}, ${calls} × ${kind} (${counted(answers)}): breaker ${states.join(', ')}, then ${good.status} ${good.reason ?? ''}`.trim(),
    { text: 'never open', isHeld },
  )
}

/** 0 is closed, 1 half open, 2 open. */
async function breakersOf({ origin }: GatewayTarget, agent: string): Promise<number[]> {
  const { body } = await request(`${origin}/metrics`)
  const lines = (await body.text()).split('\n')
  const states = lines.filter((line) => line.startsWith(`trunkline_breaker_state{agent="${agent}"`))
  if (states.length === 0) throw new Error(`no breaker of ${agent} among the metrics`)
  return states.map((line) => Number(line.split(' ').at(-1)))
}
