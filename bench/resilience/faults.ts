import { query } from '../../test/support/query.ts'
import {
  type FaultOutcome,
  PLATFORMS,
  startTurnFaults,
  TURN_FAULTS,
  type TurnFault,
  type TurnFaults,
  WAYS,
} from '../../test/support/turn-faults.ts'
import type { Stage } from '../stage.ts'
import type { Figures } from './figures.ts'

const CALLS = 100
const QUICK_CALLS = 4
const AT_ONCE = 16
const LIMIT = { points: 1_000_000_000 }
const LIMITS = { chat: LIMIT, calls: LIMIT, reads: LIMIT, reports: LIMIT, agents: LIMIT }
/** What the name of an agent leaves room for. */
const AGENTS_EACH_MAX = 5

interface Met {
  readonly name: string
  readonly platform: string
  readonly outcome: FaultOutcome
}

/** Every fault at every platform, so many calls of each: half of them streams, half JSON. */
export async function measureFaults(stage: Stage, figures: Figures): Promise<void> {
  const calls = Number(stage.options.calls ?? (stage.isQuick ? QUICK_CALLS : CALLS))
  const each = Math.ceil(calls / WAYS.length)
  const met: Met[] = []
  const failures: string[] = []
  let rows = 0
  // An agent is used once, so that neither its breaker nor its resting credential answers in the place of the fault.
  for (let done = 0; done < each; done += AGENTS_EACH_MAX) {
    const agentsEach = Math.min(AGENTS_EACH_MAX, each - done)
    const database = await stage.database()
    const faults = await startTurnFaults({
      agentsEach,
      settings: { limits: LIMITS },
      databaseUrl: database.url,
    })
    try {
      await meetAll(faults, agentsEach, { met, failures })
    } finally {
      await faults.remove()
    }
    const [{ count } = { count: 0 }] = await query<{ count: number }>(
      database.url,
      'SELECT count(*)::int FROM calls',
    )
    rows += count
    await stage.clear()
  }
  report(figures, met, { failures, rows })
}

async function meetAll(
  faults: TurnFaults,
  times: number,
  { met, failures }: { met: Met[]; failures: string[] },
): Promise<void> {
  const left = TURN_FAULTS.flatMap((fault) =>
    PLATFORMS.flatMap((platform) => WAYS.map((way) => ({ fault, platform, way }))),
  ).flatMap((meeting) => Array.from({ length: times }, () => meeting))
  const worker = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const { fault, platform, way } = next
      const name = `${platform} ${fault.id} ${way}`
      try {
        const outcome = await faults.meet(fault, platform, way)
        met.push({ name, platform, outcome })
        if (!isExpected(fault, outcome)) failures.push(`${name}: ${outcome.status} ${outcome.reason}`)
      } catch (error) {
        failures.push(`${name}: ${error instanceof Error ? error.message : error}`)
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

function isExpected({ reasons }: TurnFault, { reason }: FaultOutcome): boolean {
  return reasons.some((each) => each === reason)
}

function report(
  figures: Figures,
  met: readonly Met[],
  { failures, rows }: { failures: readonly string[]; rows: number },
): void {
  const part = 'faults'
  for (const failure of new Set(failures)) console.log(`${part}: ${failure}`)
  const keeping = met.filter(({ platform }) => platform !== 'openai')
  const turns = Math.max(...keeping.map(({ outcome }) => outcome.turns))
  for (const name of namesOf(keeping, ({ turns }) => turns > 1))
    console.log(`${part}: more than a turn: ${name}`)
  for (const name of namesOf(met, (outcome) => outcome.rows.length !== 1))
    console.log(`${part}: rows: ${name}`)
  for (const name of namesOf(met, ({ counted }) => counted !== 1)) console.log(`${part}: count: ${name}`)
  figures.add(part, `${turns} turn stored for a call at most, at platforms that keep turns`, {
    text: 'at most 1',
    isHeld: turns <= 1,
  })
  figures.add(part, `${rows} rows for ${met.length} calls`, { text: 'the same', isHeld: rows === met.length })
  const counted = met.reduce((sum, { outcome }) => sum + outcome.counted, 0)
  const isExact = met.every(({ outcome }) => outcome.counted === 1)
  figures.add(part, `${counted} counted for ${met.length} calls`, { text: 'one each', isHeld: isExact })
  figures.add(part, `${failures.length} answers with another reason than that of the fault`, {
    text: '0',
    isHeld: failures.length === 0,
  })
}

function namesOf(met: readonly Met[], is: (outcome: FaultOutcome) => boolean): Set<string> {
  return new Set(met.filter(({ outcome }) => is(outcome)).map(({ name }) => name))
}
