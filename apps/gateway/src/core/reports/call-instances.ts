import { validIds } from '#core/database/valid-ids.ts'
import type { PrismaClient } from '#generated/prisma/client.ts'

/** The process that served a call. All but the id is null once its row is past `instance.retentionDays`. */
export interface CallInstance {
  readonly id: string
  readonly host: string | null
  readonly pid: number | null
  readonly version: string | null
}

/** The processes with these ids, in one statement. */
export async function findInstances(prisma: PrismaClient, ids: readonly string[]): Promise<CallInstance[]> {
  const distinct = [...new Set(validIds(ids))]
  if (distinct.length === 0) return []
  const rows = await prisma.instance.findMany({
    where: { id: { in: distinct } },
    select: { id: true, host: true, pid: true, version: true },
  })
  const known = new Map(rows.map((row) => [row.id, row]))
  return distinct.map((id) => known.get(id) ?? { id, host: null, pid: null, version: null })
}
