import { useTranslations } from 'use-intl'
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
