import { fail, Problem, refuseField } from '#core/errors.ts'
import { PAGE_ITEMS_MAX } from '#core/input/pagination.ts'
import type { Principal } from '#core/principal.ts'
import type { Services } from '#core/services/services.ts'
import { builder } from '../builder.ts'
import { callerOf } from '../context.ts'
import { Node } from './node.ts'

interface Found {
  readonly id: string
  readonly __typename: string
}

/** What is read of an object to know that it exists. Its type reads what the query selects. */
const ID_ONLY = { select: { id: true } }

/** One statement each. */
const KINDS: Readonly<
  Record<string, (services: Services, caller: Principal, ids: readonly string[]) => Promise<{ id: string }[]>>
> = {
  User: ({ users }, caller, ids) => users.findMany(caller, ids, ID_ONLY),
  ApiKey: ({ keys }, caller, ids) => keys.findMany(caller, ids, ID_ONLY),
  Call: ({ usage }, caller, ids) => usage.findCalls(caller, ids, ID_ONLY),
  Upload: ({ uploads }, caller, ids) => uploads.findMany(caller, ids, ID_ONLY),
}

/** Asks the services one after the other, since an id does not say of which kind its object is. */
async function findNodes(
  services: Services,
  caller: Principal,
  ids: readonly string[],
): Promise<(Found | null)[]> {
  const found = new Map<string, Found>()
  for (const [typename, find] of Object.entries(KINDS)) {
    const missing = ids.filter((id) => !found.has(id))
    for (const { id } of await find(services, caller, missing).catch(noneIfDenied))
      found.set(id, { id, __typename: typename })
  }
  return ids.map((id) => found.get(id) ?? null)
}

/** A caller without the permission for a kind of objects sees none of them. */
function noneIfDenied(error: unknown): [] {
  if (error instanceof Problem && error.status === 403) return []
  throw error
}

builder.queryFields((t) => ({
  node: t.field({
    type: Node,
    nullable: true,
    description:
      'The object with this id, of whatever type, if you may see it. Takes an access token or any API key.',
    args: { id: t.arg.id({ required: true, description: 'The id of a user, API key, call or upload.' }) },
    resolve: async (_root, { id }, context) => {
      const [node] = await findNodes(context.services, callerOf(context), [id])
      return node ?? fail('object_not_found')
    },
  }),
  nodes: t.field({
    type: [Node],
    nullable: { list: true, items: true },
    description:
      'The objects with these ids, in this order; null for each that does not exist. Takes an access token or any API key.',
    args: {
      ids: t.arg.idList({
        required: true,
        description: `The ids of users, API keys, calls and uploads, at most ${PAGE_ITEMS_MAX}.`,
      }),
    },
    resolve: (_root, { ids }, context) => {
      if (ids.length > PAGE_ITEMS_MAX) refuseField(['ids'], `expected at most ${PAGE_ITEMS_MAX} ids.`)
      return findNodes(context.services, callerOf(context), ids)
    },
  }),
}))
