import { transcriptsOf } from '@trunkline/gateway/src/core/agents/transcripts.test-support.ts'
import type { Dialect } from '@trunkline/gateway/test/agents/dialect.test-support.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CONVERSATIONS } from './checks/conversations.ts'
import { DEPARTURES } from './checks/departures.ts'
import { FAILURES } from './checks/failures.ts'
import { FILES } from './checks/files.ts'
import { LEDGER } from './checks/ledger.ts'
import { MEANINGS } from './checks/meanings.ts'
import { REPLIES } from './checks/replies.ts'
import { STREAMS } from './checks/streams.ts'
import { transcriptsFor, WIRE } from './checks/wire.ts'
import {
  agentsOf,
  type GatewayWithEmulators,
  type LedgerRow,
  type Platforms,
  startGatewayWithEmulators,
} from './gateway-with-emulators.ts'
import { GUARANTEES, type GuaranteeId } from './guarantees.ts'
import { type Check, createTrial, type DialectTrial } from './trial.ts'

/** Checks that run concurrently. */
const TOGETHER = { ...REPLIES, ...FILES, ...CONVERSATIONS, ...STREAMS, ...FAILURES, ...WIRE, ...MEANINGS }
// The compiler reports a guarantee without a check and a check without a guarantee.
const CHECKS: Readonly<Record<GuaranteeId, unknown>> = { ...TOGETHER, ...DEPARTURES, ...LEDGER }

/**
 * Checks every guarantee for each dialect, through one gateway in its own process.
 *
 * @param platforms - `tried` are the dialects to check, by default all of them
 */
export function describeConformance(platforms: Platforms & { readonly tried?: readonly Dialect[] }): void {
  const { folders, dialects, tried = dialects } = platforms
  const trials = new Map<string, DialectTrial>()
  let setup: GatewayWithEmulators
  let ledger: Promise<readonly LedgerRow[]> | undefined
  let [passed, exempted] = [0, 0]

  beforeAll(async () => {
    setup = await startGatewayWithEmulators({ ...platforms, dialects: tried })
    for (const dialect of tried) trials.set(dialect.name, createTrial(setup, dialect))
  })

  afterAll(async () => {
    await setup.remove()
    const size = `${GUARANTEES.length} guarantees × ${tried.length} dialects`
    console.log(`conformance: ${size}: ${passed} pass, ${exempted} do not apply`)
  })

  test('every recorded reply of a platform belongs to a dialect that replays it', () => {
    expect(Object.keys(CHECKS).sort()).toEqual(GUARANTEES.map(({ id }) => id).sort())
    for (const platform of new Set(dialects.map((dialect) => dialect.platform))) {
      const names = dialects.flatMap((dialect) => transcriptsFor(dialect, folders).map(({ name }) => name))
      const own = names.filter((name) => name.startsWith(`${platform}/`))
      const recorded = transcriptsOf(platform, folders).filter(({ outcome }) => outcome !== 'aux')
      expect(own.sort()).toEqual(recorded.map(({ name }) => name).sort())
    }
  })

  describe.each(tried)('$name', { concurrent: true }, (dialect) => {
    test.for(guaranteesOf(TOGETHER))('$id $level: $text', ({ id }, { skip }) =>
      pass(dialect, TOGETHER[id], skip),
    )
  })

  describe.each(tried)('$name, without concurrent calls', (dialect) => {
    test.for(guaranteesOf(DEPARTURES))('$id $level: $text', ({ id }, { skip }) =>
      pass(dialect, DEPARTURES[id], skip),
    )
  })

  describe.each(tried)('$name, after the gateway has stopped', (dialect) => {
    let rows: readonly LedgerRow[] = []
    beforeAll(async () => {
      ledger ??= setup.ledger()
      rows = (await ledger).filter(({ agent }) => agentsOf(dialect).includes(agent))
    })

    test.for(guaranteesOf(LEDGER))('$id $level: $text', ({ id }) => {
      LEDGER[id]({ rows, results: trialOf(dialect).results })
      passed += 1
    })
  })

  async function pass(dialect: Dialect, check: Check, skip: (why: string) => never): Promise<void> {
    const exempt = (why: string) => {
      exempted += 1
      return skip(why)
    }
    await check({ ...trialOf(dialect), exempt })
    passed += 1
  }

  function trialOf({ name }: Dialect): DialectTrial {
    const trial = trials.get(name)
    if (trial === undefined) throw new Error(`no trial of ${name}`)
    return trial
  }
}

function guaranteesOf<Id extends GuaranteeId>(checks: Readonly<Record<Id, unknown>>) {
  return GUARANTEES.filter((guarantee): guarantee is typeof guarantee & { id: Id } => guarantee.id in checks)
}
