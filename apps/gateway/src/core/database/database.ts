import type { PrismaClient } from '#generated/prisma/client.ts'
import type { Sessions } from './check-sessions.ts'
import type { ShareState } from './connection-shares.ts'

/**
 * Raw SQL, for statements that Prisma cannot express or that every call runs. Values are passed as `$1 …`; rows are objects by
 * column name.
 */
export interface Sql {
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>
}

/** Statements of one kind of work, raw or by Prisma. */
export interface Statements {
  readonly sql: Sql
  readonly prisma: PrismaClient
}

/**
 * The kinds of work that must not wait for each other. On a server each has connections of its own, or a bounded share of some;
 * the embedded database has one session, on which they all take turns.
 */
export interface Lanes {
  /** Renews the lease of this process, and nothing else, so that no lock and no load can make a living process look dead. */
  readonly heartbeat: Sql
  /** Admissions, one statement at a time. */
  readonly admissions: Sql
  /** Those of calls with an `Idempotency-Key`, which need further tables. */
  readonly keptAdmissions: Sql
  /** Those of calls whose rows another program has locked, one statement at a time. */
  readonly lockedAdmissions: Sql
  /** Reads keys and their owners: for callers, and for calls that run. */
  readonly keys: Sql
  /** Writes the ends of calls, one statement at a time. */
  readonly settlements: Sql
  readonly conversations: Sql
  /** The logs of kept calls. */
  readonly replies: Sql
  /** Asks whether the database answers. */
  readonly probes: Sql
  /** What logins write, and what else is added to the audit log. */
  readonly logins: Sql
  /** Usage and lists of calls. */
  readonly reports: Statements
  /** The audit log and refusals. */
  readonly records: Statements
  /** What the process does by itself and later: the calls of dead processes, retention, checks. */
  readonly upkeep: Sql
  /** Erases end users, one statement at a time. */
  readonly erasures: Sql
}

/** What the connections of a lane to a server are doing. */
export interface LaneState extends ShareState {
  /** `management`, or the name of one of {@link Lanes}. */
  readonly lane: string
}

/** A connection that receives messages. It is not opened again when it is lost. */
export interface Subscription {
  /** Resolves when messages arrive, as far as the server says; rejects if the connection cannot be opened or is closed before. */
  readonly opened: Promise<void>
  /** Resolves when the connection is lost or closed. */
  readonly ended: Promise<void>
  /** Resolves soon, also if the server does not answer. */
  close(): Promise<void>
}

/** A database: embedded PGlite or a PostgreSQL server, with the same schema and the same SQL. */
export interface Database {
  readonly kind: 'embedded' | 'server'
  /** For the management of users, keys and uploads, and for everything else that has no lane of its own. */
  readonly sql: Sql
  readonly prisma: PrismaClient
  readonly lanes: Lanes
  /** What the connections are doing; an embedded database has none. */
  readonly connections?: {
    /** The most connections at once. */
    readonly max: number
    states(): readonly LaneState[]
  }
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
   * Checks that connections are sessions of the server; an embedded database has one.
   *
   * @throws OperatorError if a connection pooler in between does not keep them
   */
  readonly checkSessions?: () => Promise<Sessions>
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
