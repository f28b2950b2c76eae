import type {
  HealthKeysQuery,
  HealthProcessesQuery,
  HealthRefusalsQuery,
  HealthUsersQuery,
  OverviewAgentsQuery,
} from '../../../generated/graphql.ts'
import { isPlaygroundKey } from '../../../playground-keys.ts'
import { type FailureCounts, judgeFailures } from '../../../report/verdict.ts'
import type { CallsSearch } from '../../calls/calls-search.ts'
import type { KeysSearch } from '../../keys/keys-search.ts'
import type { ProcessesSearch } from '../../processes/processes-search.ts'
import { versionsOf } from '../../processes/versions-of.ts'
import { kindOf, type LimitKind } from '../../refusals/limit-name.ts'
import type { RefusalsSearch } from '../../refusals/refusals-search.ts'
import type { UsersSearch } from '../../users/users-search.ts'

/** Something that an administrator should look at. */
export interface Concern {
  readonly kind: 'down' | 'degraded' | 'quota' | 'expiring' | 'throttled' | 'failures' | 'lost' | 'versions'
  readonly tone: 'danger' | 'warn'
  readonly count: number
  /** Whether there are more than the count. */
  readonly isMore?: boolean
  /** Some of those that it is about. */
  readonly names: readonly string[]
  /** To the list of them. */
  readonly way: Way
}

type Way =
  | { readonly to: '/agents' }
  | { readonly to: '/users'; readonly search: UsersSearch }
  | { readonly to: '/keys'; readonly search: KeysSearch }
  | { readonly to: '/calls'; readonly search: CallsSearch }
  | { readonly to: '/refusals'; readonly search: RefusalsSearch }
  | { readonly to: '/processes'; readonly search?: ProcessesSearch }

const NAMES_MAX = 3

function concern(
  kind: Concern['kind'],
  tone: Concern['tone'],
  names: readonly string[],
  way: Way,
): Concern[] {
  if (names.length === 0) return []
  return [{ kind, tone, count: names.length, names: names.slice(0, NAMES_MAX), way }]
}

export function agentConcerns({ agents }: OverviewAgentsQuery): Concern[] {
  const namesOf = (wanted: string) =>
    (agents ?? []).filter(({ status }) => status === wanted).map(({ name }) => name)
  return [
    ...concern('down', 'danger', namesOf('UNAVAILABLE'), { to: '/agents' }),
    ...concern('degraded', 'warn', namesOf('DEGRADED'), { to: '/agents' }),
  ]
}

export function quotaConcerns({ users }: HealthUsersQuery): Concern[] {
  const names = (users?.nodes ?? []).map(({ username }) => username)
  const way = { to: '/users', search: { quota: 100, status: 'ACTIVE' } } as const
  return concern('quota', 'warn', names, way).map((found) => ({
    ...found,
    count: users?.totalCount ?? found.count,
  }))
}

/** The console makes keys for itself that expire soon. */
export function keyConcerns({ apiKeys }: HealthKeysQuery): Concern[] {
  const names = (apiKeys?.nodes ?? []).filter((key) => !isPlaygroundKey(key)).map(({ name }) => name)
  const isMore = apiKeys?.pageInfo.hasNextPage === true
  const way = { to: '/keys', search: { expiring: true } } as const
  return concern('expiring', 'warn', names, way).map((found) => ({
    ...found,
    isMore,
  }))
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

const DAY_MS = 86_400_000

export function processConcerns({ gatewayProcesses }: HealthProcessesQuery, now: Date): Concern[] {
  const processes = gatewayProcesses ?? []
  const since = now.getTime() - DAY_MS
  const lost = processes.filter(
    ({ state, lastSeenAt }) => state === 'LOST' && Date.parse(lastSeenAt) >= since,
  )
  const versions = versionsOf(processes).map(({ version }) => version ?? '?')
  return [
    ...concern(
      'lost',
      'danger',
      lost.map(({ host, id }) => host ?? id),
      { to: '/processes', search: { show: 'ended' } },
    ),
    ...(versions.length > 1 ? concern('versions', 'warn', versions, { to: '/processes' }) : []),
  ]
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
