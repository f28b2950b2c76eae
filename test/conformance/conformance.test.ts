import { PLATFORMS } from '@trunkline/gateway/src/core/agents/agent.ts'
import { transcriptsOf } from '@trunkline/gateway/src/core/agents/transcripts.test-support.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Check, createPlace, type Place } from './at.ts'
import { CONVERSATIONS } from './checks/conversations.ts'
import { DEPARTURES } from './checks/departures.ts'
import { FAILURES } from './checks/failures.ts'
import { LEDGER } from './checks/ledger.ts'
import { REPLIES } from './checks/replies.ts'
import { STREAMS } from './checks/streams.ts'
import { transcriptsFor, WIRE } from './checks/wire.ts'
import { GUARANTEES, type GuaranteeId } from './guarantees.ts'
import { agentsOf, type LedgerRow, openStage, type Stage } from './stage.ts'
import { SET_UPS, SUBJECTS, type Subject } from './subjects.ts'

/** Tried side by side. */
const TOGETHER = { ...REPLIES, ...CONVERSATIONS, ...STREAMS, ...FAILURES, ...WIRE }
// A guarantee without a check, or a check without its guarantee, is a mistake that the compiler finds.
const CHECKS: Readonly<Record<GuaranteeId, unknown>> = { ...TOGETHER, ...DEPARTURES, ...LEDGER }

const places = new Map<string, Place>()
let stage: Stage
let ledger: Promise<readonly LedgerRow[]> | undefined
let [passed, exempted] = [0, 0]

beforeAll(async () => {
  stage = await openStage()
  for (const subject of SUBJECTS) places.set(subject.name, createPlace(stage, subject))
})

afterAll(async () => {
  await stage.remove()
  const size = `${GUARANTEES.length} guarantees × ${SUBJECTS.length} platforms`
  console.log(`conformance: ${size}: ${passed} pass, ${exempted} do not apply`)
})

test('every registered platform is set up here, with every reply that was recorded of it', () => {
  expect(Object.keys(CHECKS).sort()).toEqual(GUARANTEES.map(({ id }) => id).sort())
  expect(Object.keys(SET_UPS).sort()).toEqual([...PLATFORMS].sort())
  for (const platform of PLATFORMS) {
    const names = SET_UPS[platform].flatMap((subject) => transcriptsFor(subject).map(({ name }) => name))
    const own = names.filter((name) => name.startsWith(`${platform}/`))
    const recorded = transcriptsOf(platform).filter(({ outcome }) => outcome !== 'aux')
    expect(own.sort()).toEqual(recorded.map(({ name }) => name).sort())
  }
})

describe.each(SUBJECTS)('$name', { concurrent: true }, (subject) => {
  test.for(guaranteesOf(TOGETHER))('$id $level: $text', ({ id }, { skip }) =>
    pass(subject, TOGETHER[id], skip),
  )
})

describe.each(SUBJECTS)('$name, while nothing else is asked', (subject) => {
  test.for(guaranteesOf(DEPARTURES))('$id $level: $text', ({ id }, { skip }) =>
    pass(subject, DEPARTURES[id], skip),
  )
})

describe.each(SUBJECTS)('$name, when the gateway has ended', (subject) => {
  let rows: readonly LedgerRow[] = []
  beforeAll(async () => {
    ledger ??= stage.ledger()
    rows = (await ledger).filter(({ agent }) => agentsOf(subject).includes(agent))
  })

  test.for(guaranteesOf(LEDGER))('$id $level: $text', ({ id }) => {
    LEDGER[id]({ rows, told: placeOf(subject).told })
    passed += 1
  })
})

async function pass(subject: Subject, check: Check, skip: (why: string) => never): Promise<void> {
  const exempt = (why: string) => {
    exempted += 1
    return skip(why)
  }
  await check({ ...placeOf(subject), exempt })
  passed += 1
}

function guaranteesOf<Id extends GuaranteeId>(checks: Readonly<Record<Id, unknown>>) {
  return GUARANTEES.filter((guarantee): guarantee is typeof guarantee & { id: Id } => guarantee.id in checks)
}

function placeOf({ name }: Subject): Place {
  const place = places.get(name)
  if (place === undefined) throw new Error(`no place for ${name}`)
  return place
}
