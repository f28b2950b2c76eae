import { v7 } from 'uuid'
import { Problem } from '#core/base/errors/errors.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import type { Database, Sql } from '#core/database/database.ts'
import { openDatabase } from '#core/database/open.ts'
import { createScratchDatabase, openScratchDatabase } from '#core/database/scratch-database.test-support.ts'
import type { Prisma } from '#generated/prisma/client.ts'
import type { Admission } from './admission-row.ts'
import type { Reaper } from './instances.ts'
import { createLedger, type Ledger, type LedgerDeps } from './ledger.ts'

/** The row of an API key. */
export interface KeyRow {
  readonly id: string
  readonly hash: string
  readonly ownerId: string
}

/** Ledgers of several processes on one database, and rows of users and keys for their calls. */
export interface LedgerFixture {
  readonly database: Database
  /** The address of the database, if it is on a server. */
  readonly url: string | undefined
  /** Opens connections of another process; only for a database on a server. */
  openAnother(options?: { readonly statementTimeoutMs?: number }): Promise<Database>
  /** A ledger of a process of its own. */
  ledgerOf(more?: Partial<LedgerDeps>): Ledger
  /** Inserts a user, who may make 1,000 calls, and returns the id. */
  userOf(more?: Partial<Prisma.UserCreateInput>): Promise<string>
  /** Inserts a key for chats, by default of a user of its own. */
  keyOf(ownerId?: string, more?: Partial<Prisma.ApiKeyUncheckedCreateInput>): Promise<KeyRow>
  /** How many calls are counted, and how many rows there are. */
  usageOf(key: KeyRow): Promise<Usage>
  close(): Promise<void>
}

export interface Usage {
  readonly user: number
  readonly key: number
  readonly day: number
  readonly month: number
  readonly rows: number
}

/** Opens a database on this server, or an embedded one if no server is given. */
export async function openLedgerFixture(serverUrl?: string): Promise<LedgerFixture> {
  const scratch = serverUrl === undefined ? undefined : await createScratchDatabase(serverUrl)
  const openAnother: LedgerFixture['openAnother'] = async (options = {}) => {
    if (scratch === undefined) throw new Error('an embedded database has one process')
    return openDatabase({ kind: 'server', url: scratch.url, ...options })
  }
  const database = scratch === undefined ? await openScratchDatabase() : await openAnother()
  const { prisma } = database

  async function userOf(more: Partial<Prisma.UserCreateInput> = {}): Promise<string> {
    const id = v7()
    const now = new Date()
    const named = { id, username: id, usernameKey: id, passwordHash: '', role: 'user' } as const
    await prisma.user.create({
      data: { ...named, maxApiCalls: 1_000, createdAt: now, updatedAt: now, ...more },
    })
    return id
  }

  return {
    database,
    url: scratch?.url,
    openAnother,
    userOf,
    ledgerOf: (more = {}) =>
      createLedger({
        sql: database.sql,
        runtime: systemRuntime,
        instanceId: v7(),
        observer: { batch: () => undefined, settleFailed: () => undefined },
        ...more,
      }),
    async keyOf(ownerId, more = {}) {
      const key = { id: v7(), hash: randomHash(), ownerId: ownerId ?? (await userOf()) }
      const texts = { prefix: '', name: '', nameKey: '', description: '' }
      const times = { createdAt: new Date(), expiresAt: inDays(1) }
      const hash = Buffer.from(key.hash, 'hex')
      await prisma.apiKey.create({
        data: { ...key, hash, ...texts, ...times, permissions: ['chat'], createdById: key.ownerId, ...more },
      })
      return key
    },
    async usageOf({ id, ownerId }) {
      const user = await prisma.user.findUniqueOrThrow({ where: { id: ownerId } })
      const key = await prisma.apiKey.findUniqueOrThrow({ where: { id } })
      return {
        user: Number(user.apiCallsCount),
        key: Number(key.totalCalls),
        day: Number(key.dayCalls),
        month: Number(key.monthCalls),
        rows: await prisma.call.count({ where: { keyId: id } }),
      }
    },
    async close() {
      await database.close()
      await scratch?.drop()
    },
  }
}

/** A process that is alive, and may settle the calls of dead ones. */
export async function liveReaper(sql: Sql, leaseMs = 1): Promise<Reaper> {
  const id = v7()
  await sql.query(
    "INSERT INTO instances (id, started_at, lease_until) VALUES ($1, now(), now() + interval '1 h')",
    [id],
  )
  return { id, leaseMs }
}

/** What a test does before a statement is sent, once its rows are there, and if it fails; what it throws is the answer. */
interface Watch {
  before?(text: string, values: readonly unknown[]): unknown
  after?(): unknown
  failed?(error: unknown): unknown
}

export function watched(sql: Sql, { before, after, failed }: Watch): Sql {
  return {
    async query<Row>(text: string, values: readonly unknown[] = []) {
      await before?.(text, values)
      const rows = await sql.query<Row>(text, values).catch((error: unknown) => {
        failed?.(error)
        throw error
      })
      await after?.()
      return rows
    },
  }
}

/** Its admissions wait for locked rows until the statement times out, so that several can be seen to wait. */
export function waitingForRows(sql: Sql): Sql {
  return {
    query: (text, values = []) => sql.query(text, values.length > 2 ? values.with(2, '30s') : values),
  }
}

/** A chat of this key with `dify`. */
export function admissionOf(
  { id, hash }: Pick<KeyRow, 'id' | 'hash'>,
  more: Partial<Admission> = {},
): Admission {
  const key = { keyId: id, keyHash: hash, address: '' }
  const named = { callId: v7(), requestId: 'request-1', ...key, kind: 'chat', face: 'rest' } as const
  return { ...named, agent: 'dify', app: '', endUser: '', conversation: '', ...more }
}

/** The reason of the rejection, or `admitted`. */
export function refusal(admission: Promise<unknown>): Promise<string> {
  return admission.then(
    () => 'admitted',
    (error: unknown) => (error instanceof Problem ? error.reason : String(error)),
  )
}

/** 32 bytes in hex. */
export function randomHash(): string {
  return systemRuntime.randomBytes(32).toString('hex')
}

export function inDays(days: number): Date {
  return new Date(Date.now() + days * 86_400_000)
}

/** What a statement fails with whose connection breaks. */
export const LOST = Object.assign(new Error('the socket broke'), { code: 'ECONNRESET' })
