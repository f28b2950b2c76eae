import { setTimeout as pause } from 'node:timers/promises'
import { measureLists } from '../data/unused-keys.ts'
import { counted, type Figures, runParts } from '../figures/parts.ts'
import { PACED_CALL } from '../load/workload.ts'
import { ask, newKey, startFleet } from '../servers/fleet.ts'
import type { Stage } from '../stage.ts'

const PROCESSES = 4
const PER_SECOND = 200
const OVERLAP_SECONDS = 5
const WARM_UP = 4_000
const STREAMS = 5
const REFUSED_MS_MAX = 250
const STREAM_MS_MAX = 1_000
const ELSEWHERE = ['192.0.2.0/24']

/** What keys promise that live long, with four processes on one database and with a million keys. */
export function bench(stage: Stage): Promise<void> {
  return runParts(stage, 'keys', {
    rotation: measureRotation,
    refusal: measureRefusal,
    unused: measureUnused,
  })
}

/** Clients of which half take a new secret at once and half some time before the old one ends: none may notice. */
async function measureRotation(stage: Stage, figures: Figures): Promise<void> {
  const fleet = await startFleet(stage, PROCESSES)
  const { origins, api, token } = fleet
  const owner = await api.createUser(token, 'rotating', { max_api_calls: 1e9 })
  const { id, full_key } = await newKey(fleet, { owner_id: owner.id })
  const secrets = [full_key, full_key]
  // Until the processes have compiled what they run often.
  for (let call = 0; call < WARM_UP / 8; call += 1)
    await Promise.all(
      Array.from({ length: 8 }, (_, index) => ask(origins[index % PROCESSES] ?? '', full_key)),
    )
  let probes = WARM_UP
  const calls: Promise<string>[] = []
  const [startedMs, lastsMs] = [performance.now(), stage.isQuick ? 10_000 : 40_000]
  const load = (async () => {
    for (let passedMs = 0; passedMs < lastsMs; passedMs = performance.now() - startedMs) {
      while (calls.length < (passedMs * PER_SECOND) / 1_000)
        calls.push(ask(origins[calls.length % PROCESSES] ?? '', secrets[(calls.length >> 2) % 2] ?? ''))
      await pause(1)
    }
  })()
  const lateMs: number[] = []
  let rotations = 0
  while (performance.now() - startedMs < lastsMs - (OVERLAP_SECONDS + 1) * 1_000) {
    const old = secrets[0] ?? ''
    const body = { overlap_seconds: OVERLAP_SECONDS }
    const { data } = (await api.call('POST', `/api/v1/api-keys/${id}/rotate`, { token, body })).body
    rotations += 1
    secrets[0] = data.full_key
    const endsMs = Date.parse(data.secrets[1].ends_at)
    await pause(Math.max(0, endsMs - Date.now() - 2_500))
    secrets[1] = data.full_key
    await pause(Math.max(0, endsMs - Date.now() - 200))
    const refused = await Promise.all(origins.map((origin) => untilRefused(origin, old)))
    for (const { atMs, answered } of refused) {
      lateMs.push(atMs - endsMs)
      probes += answered
    }
  }
  await load
  const ends = await Promise.all(calls)
  const failed = ends.filter((end) => end !== 'answered').length
  const seconds = Math.round(lastsMs / 1_000)
  figures.add(
    'rotation',
    `${ends.length} calls in ${seconds} s and ${rotations} rotations: ${counted(ends)}`,
    {
      text: 'none fails',
      isHeld: failed === 0,
    },
  )
  figures.addTimes(
    'rotation',
    'an old secret is refused in each process after its end by',
    lateMs,
    REFUSED_MS_MAX,
  )
  const { api_calls_count: used } = (await api.call('GET', `/api/v1/users/${owner.id}`, { token })).body.data
  const { usage } = (await api.call('GET', `/api/v1/api-keys/${id}`, { token })).body.data
  const expected = ends.length - failed + probes
  figures.add(
    'rotation',
    `quota and key have counted ${used} and ${usage.total_calls} of ${expected} answered calls`,
    {
      text: 'exact',
      isHeld: used === expected && usage.total_calls === expected,
    },
  )
}

/** Calls until it is refused: when that call was sent, and how many were answered before. */
async function untilRefused(origin: string, secret: string): Promise<{ atMs: number; answered: number }> {
  for (let answered = 0; ; answered += 1) {
    const atMs = Date.now()
    if ((await ask(origin, secret)) !== 'answered') return { atMs, answered }
    await pause(5)
  }
}

async function measureRefusal(stage: Stage, figures: Figures): Promise<void> {
  const fleet = await startFleet(stage, PROCESSES)
  const changes: readonly (readonly [name: string, change: object, undo: object])[] = [
    ['a pause', { is_active: false }, { is_active: true }],
    ['another address', { allowed_addresses: ELSEWHERE }, { allowed_addresses: null }],
  ]
  for (const [name, change, undo] of changes) {
    const [refusedMs, endedMs, resumedMs]: number[][] = [[], [], []]
    for (let trial = 0; trial < (stage.isQuick ? 3 : 15); trial += 1) {
      const { id, full_key: secret } = await newKey(fleet)
      const streams = await openStreams(fleet.origins, secret)
      const patch = async (body: object) => {
        await fleet.api.call('PATCH', `/api/v1/api-keys/${id}`, { token: fleet.token, body })
        return Date.now()
      }
      const changedMs = await patch(change)
      const refused = fleet.origins.map((origin) => untilRefused(origin, secret))
      for (const { atMs } of await Promise.all(refused)) refusedMs?.push(atMs - changedMs)
      for (const ended of await Promise.all(streams)) endedMs?.push(ended - changedMs)
      const undoneMs = await patch(undo)
      const again = await Promise.all(fleet.origins.map((origin) => ask(origin, secret)))
      resumedMs?.push(again.every((end) => end === 'answered') ? Date.now() - undoneMs : Number.NaN)
    }
    figures.addTimes(
      'refusal',
      `after ${name} each process refuses a call by`,
      refusedMs ?? [],
      REFUSED_MS_MAX,
    )
    figures.addTimes('refusal', `after ${name} streams end by`, endedMs ?? [], STREAM_MS_MAX)
    figures.addTimes(
      'refusal',
      `after its end all processes have answered by`,
      resumedMs ?? [],
      REFUSED_MS_MAX,
    )
  }
}

/** Opens streams in each process; the promises resolve with the times of their ends. */
async function openStreams(origins: readonly string[], secret: string): Promise<Promise<number>[]> {
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
  const sent = { method: 'POST', headers, body: PACED_CALL.body }
  const all = origins.flatMap((origin) =>
    Array.from({ length: STREAMS }, () => fetch(origin + PACED_CALL.path, sent)),
  )
  return (await Promise.all(all)).map((response) => response.text().then(() => Date.now()))
}

async function measureUnused(stage: Stage, figures: Figures): Promise<void> {
  await measureLists({ ...(await startFleet(stage, 1)), count: stage.isQuick ? 20 : 100 }, figures)
}
