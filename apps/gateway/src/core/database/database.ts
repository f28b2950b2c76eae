import type { PrismaClient } from '#generated/prisma/client.ts'

/** Raw SQL, for the few statements that carry the gateway. Values go as `$1 …`; a row is an object by column name. */
export interface Sql {
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>
}

/** One database: an embedded PGlite or a PostgreSQL server, with the same schema and the same SQL. */
export interface Database {
  readonly kind: 'embedded' | 'server'
  readonly sql: Sql
  /** The same on a connection that is kept, for statements that go one at a time: to take one for each is a third of their cost. */
  readonly keptSql: Sql
  readonly prisma: PrismaClient
  /** Applies what is missing, under a database lock; returns the names of the migrations that were applied. */
  migrate(): Promise<string[]>
  /** Names of the migrations of this build that the database does not have yet. */
  pendingMigrations(): Promise<string[]>
  close(): Promise<void>
}
