import { validate } from 'uuid'
import { Problem } from '#core/base/errors/errors.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { Services } from '#core/services/services.ts'

/** An object of any type; its type reads what the query selects. */
export interface FoundNode {
  readonly id: string
  readonly __typename: string
}

type Find = (services: Services, caller: Principal, ids: readonly string[]) => Promise<{ id: string }[]>

/** What is read of an object to know that it exists. */
const ID_ONLY = { select: { id: true } }

/** One statement each. */
const KINDS: Readonly<Record<string, Find>> = {
  User: ({ users }, caller, ids) => users.findMany(caller, ids, ID_ONLY),
  ApiKey: ({ keys }, caller, ids) => keys.findMany(caller, ids, ID_ONLY),
  Call: ({ calls }, caller, ids) => calls.findMany(caller, ids, ID_ONLY),
  Upload: ({ uploads }, caller, ids) => uploads.findMany(caller, ids, ID_ONLY),
  // It has no columns that could be left out.
  Conversation: ({ conversations }, caller, ids) => conversations.findMany(caller, ids),
}

/**
 * The objects with these ids, by their ids, as far as the caller may see them. Only ids of agents are no UUIDs, so an agent
 * costs no statement. A UUID does not show the kind of its object, so the services search one after the other, each for the
 * ids that the ones before did not find.
 */
export async function findNodes(
  services: Services,
  caller: Principal,
  ids: readonly string[],
): Promise<ReadonlyMap<string, FoundNode>> {
  const rows = ids.filter((id) => validate(id))
  const names = ids.filter((id) => !validate(id))
  const found = new Map<string, FoundNode>()
  for (const agent of services.agents.findMany(caller, names)) {
    found.set(agent.id, { ...agent, __typename: 'Agent' })
  }
  for (const [typename, find] of Object.entries(KINDS)) {
    const missing = rows.filter((id) => !found.has(id))
    if (missing.length === 0) break
    for (const row of await find(services, caller, missing).catch(noneIfDenied))
      found.set(row.id, { ...row, __typename: typename })
  }
  return found
}

/** A caller without the permission for a kind of objects sees none of them. */
function noneIfDenied(error: unknown): [] {
  if (error instanceof Problem && error.status === 403) return []
  throw error
}
