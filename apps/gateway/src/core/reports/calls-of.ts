import { readPagesOfLists } from '#core/database/pages-of-lists.ts'
import type { ListQuery } from '#core/requests/input/pagination.ts'
import type { Principal } from '#core/requests/principal.ts'
import { type Call, Prisma } from '#generated/prisma/client.ts'
import { type CallQuery, type CallsDeps, findCalls, requireForward } from './calls.ts'
import { ownerIn, ownScopeOf, type Scope } from './scope.ts'

/** The owner of calls: a key, or the user whom keys belong to. */
export type CallParent = 'key' | 'owner'

/**
 * The same page of the calls of several keys or users, by their ids and newest first. Without a filter a page is as many
 * rows of an index, so it needs no slices.
 *
 * @throws Problem `invalid_request`
 */
export async function readCallsOf(
  { prisma, reads }: Pick<CallsDeps, 'prisma' | 'reads'>,
  caller: Principal,
  { parent, ids }: { readonly parent: CallParent; readonly ids: readonly string[] },
  page: ListQuery & CallQuery,
  signal?: AbortSignal,
): Promise<Map<string, Call[]>> {
  requireForward(page)
  return reads.inTurn({ owner: caller.userId, signal }, () =>
    readPagesOfLists(page, ids, {
      prisma,
      table: 'calls',
      parentColumn: parent === 'key' ? 'key_id' : 'owner_id',
      where: scopeInSql(ownScopeOf(caller)),
      readRows: (rowIds) => findCalls({ prisma }, caller, rowIds, page),
    }),
  )
}

function scopeInSql(scope: Scope): Prisma.Sql {
  const owner = ownerIn(scope)
  return owner === undefined ? Prisma.sql`true` : Prisma.sql`${Prisma.raw(owner.column)} = ${owner.id}::uuid`
}
