import { PrismaPg } from '@prisma/adapter-pg'
import type pg from 'pg'
import { PrismaClient } from '#generated/prisma/client.ts'
import { ConnectionShares } from './connection-shares.ts'
import type { Database, Statements } from './database.ts'
import { dedicatedSql } from './dedicated-sql.ts'
import { openPool, poolSql } from './pool.ts'
import { CALL_SETTINGS, SESSION_SETTINGS } from './session-settings.ts'

export interface LanesOptions {
  readonly url: string
  /** Also how long a statement waits for a connection. */
  readonly connectTimeoutMs: number
  /** For statements that may take long. Those for which a caller or a lease waits have less. */
  readonly statementTimeoutMs: number
  /** Defaults to {@link MANAGEMENT_MAX}. */
  readonly managementMax?: number | undefined
}

/**
 * A caller waits two seconds for an admission; a statement that ran longer would count calls that were already rejected and
 * delay the next ones. And a lease must be renewed several times before it expires.
 */
const SHORT_STATEMENT_MS = 2_000
/** How long the statements of running calls wait for a lock: most of them have a caller who waits. */
const CALLS_LOCK_MS = 2_000
/** How long statements that a caller can repeat wait for a lock, on a connection that others need meanwhile. */
const MANAGEMENT_LOCK_MS = 1_000
/** Normally the server cancels a slow statement first; after this time more, it does not respond at all. */
const NO_ANSWER_MS = 5_000
const NO_ANSWER_TO_HEARTBEAT_MS = 1_000

/** Heartbeats, look-ups of keys, settlements, the three kinds of admissions and erasures have a connection each. */
const ALONE_MAX = 7
/** For what running calls need. Neither kind can take the last connection from the other. */
const CALLS_MAX = 3
/**
 * For what can wait. All that may take long (two reports, a page of records and a statement of the upkeep) leaves one connection,
 * so that logins and changes go on beside it.
 */
const MANAGEMENT_MAX = 5
/** Receives the messages of other processes where there is no Redis (listen.ts). */
const LISTENING_MAX = 1

/** The most connections of one process to its server. */
export const CONNECTIONS_MAX = ALONE_MAX + CALLS_MAX + MANAGEMENT_MAX + LISTENING_MAX

type ServerLanes = Statements &
  Required<Pick<Database, 'lanes' | 'connections'>> & {
    /** Runs work on one connection of the management. */
    onConnection<Result>(work: (client: pg.ClientBase) => Promise<Result>): Promise<Result>
    close(): Promise<void>
  }

/** Opens no connection before its first statement. */
export function openLanes(options: LanesOptions): ServerLanes {
  const { connectTimeoutMs, statementTimeoutMs: statementMs, managementMax = MANAGEMENT_MAX } = options
  const short = { statementMs: Math.min(SHORT_STATEMENT_MS, statementMs) }
  const open = (max: number, session: SessionOptions) => openPool({ ...configOf(options, session), max })
  const alone = {
    heartbeat: dedicatedSql(open(1, { ...short, noAnswerMs: NO_ANSWER_TO_HEARTBEAT_MS })),
    admissions: dedicatedSql(open(1, short)),
    lockedAdmissions: dedicatedSql(open(1, short)),
    settlements: dedicatedSql(open(1, { statementMs })),
  }
  const ofKeys = new ConnectionShares(open(1, short), connectTimeoutMs)
  const ofKeptAdmissions = new ConnectionShares(open(1, short), connectTimeoutMs)
  const ofCalls = new ConnectionShares(
    open(CALLS_MAX, { statementMs, lockMs: CALLS_LOCK_MS }),
    connectTimeoutMs,
  )
  const ofErasures = new ConnectionShares(
    open(1, { statementMs, lockMs: MANAGEMENT_LOCK_MS }),
    connectTimeoutMs,
  )
  const ofManagement = new ConnectionShares(
    open(managementMax, { statementMs, lockMs: MANAGEMENT_LOCK_MS, settings: SESSION_SETTINGS }),
    connectTimeoutMs,
  )
  const shares = {
    keys: ofKeys.share(1),
    keptAdmissions: ofKeptAdmissions.share(1),
    conversations: ofCalls.share(2),
    replies: ofCalls.share(2),
    probes: ofCalls.share(1),
    management: ofManagement.share(3),
    logins: ofManagement.share(2),
    // These two have one more than may take long, for their short statements.
    reports: ofManagement.share(3),
    records: ofManagement.share(2),
    upkeep: ofManagement.share(1),
    erasures: ofErasures.share(1),
  }
  const management = statementsOn(shares.management.pool)
  const reports = statementsOn(shares.reports.pool)
  const records = statementsOn(shares.records.pool)
  return {
    ...management,
    lanes: {
      ...alone,
      keys: poolSql(shares.keys.pool),
      keptAdmissions: poolSql(shares.keptAdmissions.pool),
      conversations: poolSql(shares.conversations.pool),
      replies: poolSql(shares.replies.pool),
      probes: poolSql(shares.probes.pool),
      logins: poolSql(shares.logins.pool),
      reports,
      records,
      upkeep: poolSql(shares.upkeep.pool),
      erasures: poolSql(shares.erasures.pool),
    },
    connections: {
      max: CONNECTIONS_MAX,
      states: () =>
        Object.entries({ ...alone, ...shares }).map(([lane, { state }]) => ({ lane, ...state() })),
    },
    async onConnection(work) {
      const client = await shares.management.pool.connect()
      try {
        return await work(client)
      } finally {
        client.release()
      }
    },
    async close() {
      await Promise.all([management, reports, records].map(({ prisma }) => prisma.$disconnect()))
      const shared = [ofKeys, ofKeptAdmissions, ofCalls, ofErasures, ofManagement]
      await Promise.all([...Object.values(alone), ...shared].map((each) => each.close()))
    },
  }
}

function statementsOn(pool: pg.Pool): Statements {
  return { sql: poolSql(pool), prisma: new PrismaClient({ adapter: new PrismaPg(pool) }) }
}

interface SessionOptions {
  readonly statementMs: number
  /** How long a statement waits for a lock; as long as it may take by default. */
  readonly lockMs?: number
  readonly noAnswerMs?: number
  /** Defaults to {@link CALL_SETTINGS}. */
  readonly settings?: string
}

function configOf(
  { url, connectTimeoutMs }: LanesOptions,
  { statementMs, lockMs = 0, noAnswerMs = NO_ANSWER_MS, settings = CALL_SETTINGS }: SessionOptions,
): pg.PoolConfig {
  const all = `${settings}; SET statement_timeout = ${statementMs}; SET lock_timeout = ${lockMs}`
  return {
    connectionString: url,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: statementMs + noAnswerMs,
    onConnect: (client) => client.query(all),
  }
}
