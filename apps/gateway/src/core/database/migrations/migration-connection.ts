import type { SqlDriverAdapter } from '@prisma/driver-adapter-utils'
import type { Sql } from '#core/database/database.ts'

/** A connection to a database that no other process migrates at the same time. */
export interface MigrationConnection {
  readonly sql: Sql
  /** Whether processes may use the database meanwhile. */
  readonly isShared: boolean
  /** Runs a script of several statements as one transaction; a single one without a transaction block. */
  runScript(script: string): Promise<unknown>
  adapter(): Promise<SqlDriverAdapter>
}
