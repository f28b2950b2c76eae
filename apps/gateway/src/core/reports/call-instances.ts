import { validIds } from '#core/database/valid-ids.ts'
import type { Principal } from '#core/requests/principal.ts'
import { type CallsDeps, seesPlatform } from './calls.ts'

/** The process that served a call. All but the id is null once its row is past `instance.retentionDays`. */
export interface CallInstance {
  readonly id: string
  readonly host: string | null
  readonly pid: number | null
  readonly version: string | null
}

/** The processes with these ids, in one statement; none for callers who may not see them. */
export async function findInstances(
  { prisma }: Pick<CallsDeps, 'prisma'>,
  caller: Principal,
  ids: readonly string[],
): Promise<CallInstance[]> {
  const distinct = [...new Set(validIds(ids))]
  if (!seesPlatform(caller) || distinct.length === 0) return []
  const rows = await prisma.instance.findMany({
    where: { id: { in: distinct } },
    select: { id: true, host: true, pid: true, version: true },
  })
  const known = new Map(rows.map((row) => [row.id, row]))
  return distinct.map((id) => known.get(id) ?? { id, host: null, pid: null, version: null })
}
