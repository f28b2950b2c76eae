import { fail } from '#core/base/errors/errors.ts'
import { columnsOf } from '#core/database/columns-of.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { Services } from '#core/services/services.ts'
import type { PrismaClient } from '#generated/prisma/client.ts'
import { batchedRows } from './batched.ts'
import type { RowQuery as Query } from './columns-of-both.ts'

type Row = { readonly id: string }
type ReadRows = (ids: readonly string[], query: Query) => Promise<readonly Row[]>

interface Reread {
  /** Called by Pothos for each row by itself. */
  findUniqueOrThrow(query: Query & { readonly where: Row }): Promise<Row>
}

export interface RereadDeps {
  readonly services: Services
  readonly prisma: PrismaClient
  readonly callerOf: () => Principal
  /** The users who have logged in within this request: it has no caller, but proves who they are. */
  readonly loggedIn: ReadonlySet<string>
}

/**
 * The client by which Pothos reads a row again that was read with fewer columns than the query selects, such as the result
 * of a mutation or of `node`. Prisma's own client would send one statement for each row; this one reads all rows of a level
 * in one statement, and through the services, which add the caller's filter.
 */
export function createRereads({ services, prisma, callerOf, loggedIn }: RereadDeps): PrismaClient {
  const { users, keys, calls, uploads } = services
  const readUsers: ReadRows = async (ids, query) => {
    const proven = ids.filter((id) => loggedIn.has(id))
    const others = ids.filter((id) => !loggedIn.has(id))
    const own =
      proven.length === 0
        ? []
        : await prisma.user.findMany({ ...columnsOf(query), where: { id: { in: proven } } })
    return others.length === 0 ? own : [...own, ...(await users.findMany(callerOf(), others, query))]
  }
  const rereads = {
    user: reread(readUsers),
    apiKey: reread((ids, query) => keys.findMany(callerOf(), ids, query)),
    call: reread((ids, query) => calls.findMany(callerOf(), ids, query)),
    upload: reread((ids, query) => uploads.findMany(callerOf(), ids, query)),
  }
  // Pothos names Prisma's whole client, of which it calls this one method.
  return rereads as unknown as PrismaClient
}

function reread(read: ReadRows): Reread {
  const rowOf = batchedRows((ids, { select, include }) =>
    // The rows are found by their ids, whether or not the query selects these.
    read(ids, select === undefined ? { include } : { select: { ...select, id: true } }),
  )
  return {
    async findUniqueOrThrow({ where: { id }, ...query }) {
      // It has been deleted since it was read first, or hidden from the caller.
      return (await rowOf(id, query)) ?? fail('object_not_found')
    },
  }
}
