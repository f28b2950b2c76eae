import type { Messages } from '../../../../messages/en.ts'
import type {
  HealthKeysQuery,
  HealthProcessesQuery,
  HealthRefusalsQuery,
  HealthUsersQuery,
  OverviewAgentsQuery,
  OverviewBeforeQuery,
  OverviewQuery,
} from '../../../generated/graphql.ts'
import { isPlaygroundKey } from '../../../playground-keys.ts'
import { areSlow, type FailureCounts, judgeFailures } from '../../../report/verdict.ts'
import type { CallsSearch } from '../../calls/calls-search.ts'
import type { KeysSearch } from '../../keys/keys-search.ts'
import { daysOf, EXPIRING } from '../../keys/state/key-expiry.ts'
import { lostWithinDay, nameOf } from '../../processes/lost.ts'
import type { ProcessesSearch } from '../../processes/processes-search.ts'
import { versionsOf } from '../../processes/versions-of.ts'
import { kindOf, type LimitKind } from '../../refusals/limit-name.ts'
import type { RefusalsSearch } from '../../refusals/refusals-search.ts'
import type { UsageSearch } from '../../usage/usage-search.ts'
import type { UsersSearch } from '../../users/users-search.ts'

/** Something that an administrator should look at. */
export interface Concern {
  readonly kind: keyof Messages['health']['concerns']
  readonly tone: 'danger' | 'warn'
  readonly count: number
  /** Whether there are more than the count. */
  readonly isMore?: boolean
  /** Within how many days it comes. */
  readonly days?: number
  /** Some of those that it is about. */
  readonly names: readonly string[]
  /** To the list of them. */
  readonly way: Way
}

type Way =
  | { readonly to: '/agents'; readonly search?: { readonly id: string } }
  | { readonly to: '/usage'; readonly search: Partial<UsageSearch> }
  | { readonly to: '/users'; readonly search: UsersSearch }
  | { readonly to: '/keys'; readonly search: KeysSearch }
  | { readonly to: '/calls'; readonly search: CallsSearch }
  | { readonly to: '/refusals'; readonly search: RefusalsSearch }
  | { readonly to: '/processes'; readonly search?: ProcessesSearch }

const NAMES_MAX = 3
const DAY_MS = 86_400_000

function concern(
  kind: Concern['kind'],
  tone: Concern['tone'],
  names: readonly string[],
  way: Way,
): Concern[] {
  if (names.length === 0) return []
  return [{ kind, tone, count: names.length, names: names.slice(0, NAMES_MAX), way }]
}

/** Each with its cause, as far as calls and probes have shown it. */
export function agentConcerns({ agents }: OverviewAgentsQuery): Concern[] {
  const of = (kind: 'down' | 'degraded', tone: Concern['tone'], wanted: string) => {
    const found = (agents ?? []).filter(({ status }) => status === wanted)
    const names = found.map(({ name, statusReason: reason }) =>
      reason === null ? name : `${name} (${reason})`,
    )
    const [only] = found.length === 1 ? found : []
    return concern(kind, tone, names, { to: '/agents', ...(only && { search: { id: only.id } }) })
  }
  return [...of('down', 'danger', 'UNAVAILABLE'), ...of('degraded', 'warn', 'DEGRADED')]
}

export function quotaConcerns({ users }: HealthUsersQuery): Concern[] {
  const names = (users?.nodes ?? []).map(({ username }) => username)
  const way = { to: '/users', search: { quota: 100, status: 'ACTIVE' } } as const
  return concern('quota', 'warn', names, way).map((found) => ({
    ...found,
    count: users?.totalCount ?? found.count,
  }))
}

/** A time is named if keys expire within it and not within a shorter one. The console makes keys for itself that expire soon. */
export function keyConcerns({ apiKeys }: HealthKeysQuery, now: Date): Concern[] {
  const keys = (apiKeys?.nodes ?? []).filter((key) => !isPlaygroundKey(key))
  let named = 0
  return EXPIRING.flatMap((expiring) => {
    const days = daysOf(expiring)
    const end = new Date(now.getTime() + days * DAY_MS)
    const names = keys.filter(({ expiresAt }) => new Date(expiresAt) < end).map(({ name }) => name)
    if (names.length === named) return []
    named = names.length
    // The soonest are read first.
    const isMore = apiKeys?.pageInfo.hasNextPage === true && named === keys.length
    const tone = expiring === '1d' ? 'danger' : 'warn'
    const found = concern('expiring', tone, names, { to: '/keys', search: { expiring } })
    return found.map((each) => ({ ...each, days, isMore }))
  })
}

/** A part of the gateway that is unavailable refuses requests as well, but that is no throttling. */
const THROTTLING: readonly (LimitKind | undefined)[] = ['window', 'quota', 'space', 'caller', 'everyone']

/** `from` is the start of the time in which they were counted. */
export function throttledConcerns({ refusalCounts }: HealthRefusalsQuery, from: string): Concern[] {
  const counts = new Map<string, { readonly name: string; readonly count: number }>()
  for (const { keyId, key, limit, count } of refusalCounts ?? []) {
    if (keyId === null || !THROTTLING.includes(kindOf(limit))) continue
    counts.set(keyId, { name: key?.name ?? keyId, count: count + (counts.get(keyId)?.count ?? 0) })
  }
  const most = [...counts].sort(([, one], [, other]) => other.count - one.count)
  const only = most.length === 1 ? { key: most[0]?.[0] } : {}
  const search = { show: 'counts', from, by: 'key,limit', ...only } as const
  const names = most.map(([, { name }]) => name)
  return concern('throttled', 'warn', names, { to: '/refusals', search })
}

export function processConcerns({ gatewayProcesses }: HealthProcessesQuery, now: Date): Concern[] {
  const processes = gatewayProcesses ?? []
  const lost = lostWithinDay(processes, now).map(({ process }) => nameOf(process))
  const versions = versionsOf(processes).map(({ version }) => version ?? '?')
  return [
    ...troublesOf(processes),
    ...concern('lost', 'danger', lost, { to: '/processes', search: { show: 'ended' } }),
    ...(versions.length > 1 ? concern('versions', 'warn', versions, { to: '/processes' }) : []),
  ]
}

type ProcessTrouble = 'locked' | 'ledgerBehind' | 'unavailable' | 'diskFull'

/** What processes tell of themselves. A lock explains ends that are not written, by its holder. */
function troublesOf(processes: NonNullable<HealthProcessesQuery['gatewayProcesses']>): Concern[] {
  const found: Record<ProcessTrouble, Map<string, string>> = {
    locked: new Map(),
    ledgerBehind: new Map(),
    unavailable: new Map(),
    diskFull: new Map(),
  }
  for (const process of processes) {
    const name = nameOf(process)
    for (const { concern, cause, blockedBy } of process.concerns) {
      if (concern === 'UNAVAILABLE') found.unavailable.set(process.id, `${name} (${cause})`)
      if (concern === 'DISK_FULL') found.diskFull.set(process.id, name)
      // Processes that wait for the same lock name the same holder.
      if (blockedBy !== null) found.locked.set(blockedBy, blockedBy)
      else if (concern === 'LEDGER_BEHIND') found.ledgerBehind.set(process.id, name)
    }
  }
  return Object.entries(found).flatMap(([kind, names]) =>
    concern(kind as ProcessTrouble, 'danger', [...names.values()], { to: '/processes' }),
  )
}

/** Whether calls fail more often than in the period before. `from` and `to` are the range that is looked at. */
export function failureConcerns(
  now: FailureCounts,
  before: FailureCounts | undefined,
  range: { readonly from: string; readonly to: string },
): Concern[] {
  if (before === undefined || judgeFailures(now, before) !== 'worse') return []
  const search = { outcome: 'FAILED', ...range } as const
  return [
    { kind: 'failures', tone: 'danger', count: now.failedCalls, names: [], way: { to: '/calls', search } },
  ]
}

type Report = Pick<NonNullable<OverviewQuery['usage']>, 'from' | 'to' | 'timezone' | 'groups'>
type ReportBefore = Pick<NonNullable<OverviewBeforeQuery['usage']>, 'groups'>

/** Agents whose first texts come much later than in the period before. `about` writes a percentile. */
export function slowConcerns(
  { from, to, timezone: zone, groups }: Report,
  before: ReportBefore | undefined,
  about: (ms: number) => string,
): Concern[] {
  const slow = groups.flatMap(({ agentId, agent, totals }) => {
    const then = before?.groups.find((group) => group.agentId === agentId)?.totals
    if (then === undefined || !areSlow(totals, then)) return []
    const [ms, msBefore] = [totals.firstChunkMs?.p95 ?? 0, then.firstChunkMs?.p95 ?? 0]
    const name = `${agent?.name ?? agentId} (${about(msBefore)} → ${about(ms)})`
    return { name, calls: { agent: agentId ?? undefined, firstMs: Math.floor(msBefore), from, to } }
  })
  const names = slow.map(({ name }) => name)
  const [only] = slow.length === 1 ? slow : []
  if (only !== undefined) return concern('slow', 'warn', names, { to: '/calls', search: only.calls })
  const search = { from, to, zone, group: 'agent', show: 'firstChunk', percentile: 'p95' } as const
  return concern('slow', 'warn', names, { to: '/usage', search })
}
