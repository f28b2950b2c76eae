import type { RecordFilter } from '../../charts/chart-data.ts'
import type { GroupNameFragment } from '../../generated/graphql.ts'

/**
 * What the calls of a group have in common, for the address of their list. Undefined where no list has just these calls: the
 * list has no filter for it, or the gateway has summed several names.
 */
export function groupFilter(group: GroupNameFragment): RecordFilter | undefined {
  const { agentId, appId, model, keyId, ownerId, endUser, outcome } = group
  const found = { agent: agentId, key: keyId, user: ownerId, outcome }
  const given = Object.entries(found).filter(([, value]) => value !== null)
  if ([appId, model, endUser].some((value) => value !== null)) return undefined
  if (given.some(([, value]) => value === '')) return undefined
  return Object.fromEntries(given) as RecordFilter
}
