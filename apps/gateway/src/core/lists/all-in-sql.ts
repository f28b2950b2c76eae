import { Prisma } from '#generated/prisma/client.ts'

/** The conditions that are given, all of which must hold; undefined if there are none. */
export function allInSql(conditions: readonly (Prisma.Sql | undefined)[]): Prisma.Sql | undefined {
  const given = conditions.filter((condition) => condition !== undefined)
  return given.length === 0 ? undefined : Prisma.sql`(${Prisma.join(given, ') AND (')})`
}
