import type { Lanes, Statements } from '#core/database/database.ts'

/** The lanes of a database with one session, on which the statements of all kinds take turns. */
export function oneLane({ sql, prisma }: Statements): Lanes {
  return {
    heartbeat: sql,
    admissions: sql,
    keptAdmissions: sql,
    lockedAdmissions: sql,
    keys: sql,
    settlements: sql,
    conversations: sql,
    replies: sql,
    probes: sql,
    logins: sql,
    reports: { sql, prisma },
    records: { sql, prisma },
    upkeep: sql,
    erasures: sql,
  }
}
