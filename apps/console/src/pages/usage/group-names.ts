import { useTranslations } from 'use-intl'
import type { RecordFilter } from '../../charts/chart-data.ts'
import type { GroupNameFragment } from '../../generated/graphql.ts'

/** What is said of groups in which a property has no value. */
interface Words {
  readonly none: string
  outcome(outcome: NonNullable<GroupNameFragment['outcome']>): string
}

export function useGroupNames(): (groups: readonly GroupNameFragment[]) => string[] {
  const t = useTranslations('usage')
  const outcomes = useTranslations('calls.outcomes')
  return (groups) => groupNames(groups, { none: t('noValue'), outcome: (outcome) => outcomes(outcome) })
}

/** The names of groups, each different from the others: two keys may have the same name. */
export function groupNames(groups: readonly GroupNameFragment[], words: Words): string[] {
  const names = groups.map((group) => nameOf(group, words))
  return names.map((name, index) => {
    if (names.indexOf(name) === names.lastIndexOf(name)) return name
    const { key, keyId, ownerId } = groups[index] ?? {}
    const id = key?.keyPrefix ?? keyId ?? ownerId
    return `${name} (${id ?? index + 1})`
  })
}

function nameOf(group: GroupNameFragment, { none, outcome }: Words): string {
  const { agentId, agent, appId, model, keyId, key, ownerId, owner, endUser } = group
  return [
    agentId === null ? null : (agent?.name ?? agentId),
    appId,
    model,
    keyId === null ? null : (key?.name ?? keyId.slice(0, 8)),
    ownerId === null ? null : (owner?.username ?? ownerId.slice(0, 8)),
    endUser,
    group.outcome === null ? null : outcome(group.outcome),
  ]
    .filter((part) => part !== null)
    .map((part) => (part === '' ? none : part))
    .join(' · ')
}

/** The gateway sums the names beyond its bounds of a day under this one, which is that of no call. */
const SUMMED = '(other)'

/**
 * What the calls of a group have in common, for the address of their list. Undefined where no list has just these calls: several
 * names have been summed, or an upload was for no agent.
 */
export function groupFilter(group: GroupNameFragment): RecordFilter | undefined {
  const { agentId, appId, model, keyId, ownerId, endUser, outcome } = group
  const named = { app: appId, model, endUser }
  const found = { agent: agentId, key: keyId, user: ownerId, outcome, ...named }
  if ([appId, endUser].includes(SUMMED) || agentId === '') return undefined
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== null)) as RecordFilter
}
