import type { PrismaClient } from '#generated/prisma/client.ts'

/**
 * Raw SQL, for statements that Prisma cannot express or that every call runs. Values are passed as `$1 …`; rows are objects by
 * column name.
 */
export interface Sql {
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>
}

/** What the connections to a server are doing. */
export interface PoolState {
  readonly max: number
  readonly inUse: number
  readonly idle: number
  /** Statements that wait for a connection. */
  readonly waiting: number
}

/** A connection that hears messages. It is not opened again when it is lost. */
export interface Subscription {
  /** Resolves when messages are heard, as far as the server says; rejects if the connection cannot be opened or is closed before. */
  readonly opened: Promise<void>
  /** Resolves when the connection is lost or closed. */
  readonly ended: Promise<void>
  /** Resolves soon, also if the server does not answer. */
  close(): Promise<void>
}

/** A database: embedded PGlite or a PostgreSQL server, with the same schema and the same SQL. */
export interface Database {
  readonly kind: 'embedded' | 'server'
  readonly sql: Sql
  /**
   * Raw SQL on a dedicated connection, for statements that run one at a time. It saves taking a connection from the pool,
   * which is a third of their cost.
   */
  readonly dedicatedSql: Sql
  readonly prisma: PrismaClient
  /** What the pool of connections is doing; an embedded database has none. */
  readonly pool?: { state(): PoolState }
  /**
   * Hears the notifications of a channel (`NOTIFY`) on a connection of its own. An embedded database has no other process from
   * which they could come.
   */
  readonly listen?: (channel: string, onMessage: (message: string) => void) => Subscription
  /**
   * Runs work whose statements may take minutes, such as an export. An embedded database ends any other statement after some
   * seconds, since it can run only one; a server has its own timeout, which is not changed.
   */
  patiently<Result>(work: () => Promise<Result>): Promise<Result>
  /**
   * Applies pending migrations under a lock in the database, and returns the names of those that it applied.
   *
   * @throws OperatorError if a migration fails
   */
  migrate(): Promise<string[]>
  /** Returns the names of this build's migrations that the database does not have yet. */
  pendingMigrations(): Promise<string[]>
  close(): Promise<void>
}
