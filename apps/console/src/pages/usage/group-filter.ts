import type { RecordFilter } from '../../charts/chart-data.ts'
import type { GroupNameFragment } from '../../generated/graphql.ts'

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
