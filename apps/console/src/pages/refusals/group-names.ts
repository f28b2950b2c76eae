import { useTranslations } from 'use-intl'
import type { RefusalCountsQuery } from '../../generated/graphql.ts'
import { useLimitName } from './limit-name.ts'
import type { Group } from './refusals-search.ts'

export type CountRow = NonNullable<RefusalCountsQuery['refusalCounts']>[number]

/** What an agent is called; the gateway keeps no names that it does not know. */
export function useAgentName(): (agentId: string, name?: string | undefined) => string {
  const t = useTranslations('refusals')
  return (agentId, name) => name ?? (agentId === 'other' ? t('otherAgent') : agentId || t('noValue'))
}

/** What a count is called by one of its properties. */
export function useGroupName(): (row: CountRow, group: Group) => string {
  const t = useTranslations('refusals')
  const limitName = useLimitName()
  const agentName = useAgentName()
  return (row, group) => {
    switch (group) {
      case 'key':
        if (row.keyId === null) return t(row.ownerId === null ? 'unknownCredential' : 'token')
        return row.key?.name ?? row.keyId
      case 'user':
        return row.owner?.username ?? row.ownerId ?? t('unknownCredential')
      case 'agent':
        return agentName(row.agentId)
      case 'reason':
        return row.reason
      case 'limit':
        return row.limit === '' ? t('noValue') : limitName(row.limit)
    }
  }
}
