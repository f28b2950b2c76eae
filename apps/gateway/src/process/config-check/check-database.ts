import type { Config } from '#config/load.ts'
import { createStoredSecrets } from '#core/accounts/auth/stored-secrets.ts'
import { isConnectionError } from '#core/base/errors/connection-error.ts'
import { OperatorError } from '#core/base/errors/operator-error.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import { atAddressOf } from '#core/base/values/at-address-of.ts'
import type { Database, Sql } from '#core/database/database.ts'
import { openDatabase } from '#core/database/open.ts'
import { reasonOf } from '../waiting.ts'
import { bounded, type Finding, findingsOf } from './finding.ts'

const CONNECT_MS = 5_000
const WITHIN_MS = 15_000
/** The oldest version on which the gateway is tested. */
const VERSION_MIN = 15

const { ok, warning, error } = findingsOf('database')

/** Checks that the database server answers, has the schema of this version and grants the rights that the gateway needs. */
export async function checkDatabase(config: Config): Promise<readonly Finding[]> {
  const { databaseUrl: url, dataDir } = config
  if (url === undefined)
    return [ok(`DATABASE_URL: is not set, so the embedded database in ${dataDir} is used.`)]
  const database = await openDatabase({
    kind: 'server',
    url,
    connectTimeoutMs: CONNECT_MS,
    statementTimeoutMs: CONNECT_MS,
  })
  const findings = await bounded(WITHIN_MS, checkServer(database, config), (reason, cause) =>
    error(
      cause instanceof OperatorError
        ? reason
        : isConnectionError(cause)
          ? `DATABASE_URL: PostgreSQL${atAddressOf(url)}: ${reasonOf(cause)}.`
          : `DATABASE_URL: the database cannot be used: ${reason}.`,
    ),
  )
  // A connection that hangs would delay the result, and the process ends after it.
  database.close().catch(() => undefined)
  return findings
}

async function checkServer(database: Database, config: Config): Promise<readonly Finding[]> {
  const { sql } = database
  const sessions = await database.checkSessions?.()
  const [about] = await sql.query<About>(ABOUT)
  if (about === undefined) throw new Error('no answer')
  const found: Finding[] = [
    ok(
      `DATABASE_URL: PostgreSQL ${about.version}${atAddressOf(config.databaseUrl)}, database ${about.name}, user ${about.user}.`,
    ),
  ]
  if (sessions?.arePooled === true)
    found.push(ok('DATABASE_URL: a connection pooler is in between, which keeps sessions.'))
  if (about.major < VERSION_MIN) {
    found.push(warning(`DATABASE_URL: PostgreSQL ${VERSION_MIN} is the oldest version that is tested.`))
  }
  if (about.isReadOnly) found.push(error('DATABASE_URL: the server or the user can only read.'))
  if (about.schema === null) {
    return [...found, error('DATABASE_URL: no schema of the search_path exists or may be used by this user.')]
  }
  return [...found, ...(await checkSchema(database, config, about))]
}

async function checkSchema(
  database: Database,
  config: Config,
  { schema, mayCreate }: About,
): Promise<readonly Finding[]> {
  const pending = await database.pendingMigrations()
  if (pending.length > 0) {
    const level = config.production ? error : warning
    const what = config.production ? 'run "trunkline migrate" before the start' : 'the start applies them'
    const names = `${pending.length} of the migrations: ${pending.join(', ')}`
    const denied = error(
      `DATABASE_URL: the user may not create tables in the schema ${schema}, which migrations need.`,
    )
    return [level(`DATABASE_URL: the database lacks ${names}; ${what}.`), ...(mayCreate ? [] : [denied])]
  }
  const lacking = await database.sql.query<{ name: string }>(TABLES_WITHOUT_RIGHTS)
  if (lacking.length > 0) {
    const tables = lacking.map(({ name }) => name).join(', ')
    return [error(`DATABASE_URL: the user may not select, insert, update and delete in ${tables}.`)]
  }
  return [
    ok('DATABASE_URL: all migrations are applied, and the user has the rights that the gateway needs.'),
    // Not an error: migrations may be run by another user.
    ...(mayCreate ? [] : [warning(`DATABASE_URL: the user may not create tables, so it cannot migrate.`)]),
    ...(await checkContent(database.sql, config)),
  ]
}

/** What would make the start fail although the database is sound. */
async function checkContent(sql: Sql, config: Config): Promise<readonly Finding[]> {
  const found: Finding[] = []
  const [users] = await sql.query<{ exist: boolean }>('SELECT EXISTS (SELECT FROM users) AS exist')
  if (config.production && users?.exist !== true && config.adminPassword === undefined) {
    found.push(error('ADMIN_PASSWORD: is required in production while there is no user.'))
  }
  const [key] = await sql.query<{ id: string; sealed: boolean; secret: string }>(SIGNING_KEY)
  if (key === undefined) return found
  const { ok, error: unreadable } = findingsOf('secrets')
  try {
    const { isCurrent } = createStoredSecrets(config, systemRuntime).open(key, key.id)
    const advice = isCurrent ? '' : '; "trunkline secrets rewrite" stores them as SECRET_KEY asks for'
    return [...found, ok(`SECRET_KEY: the secrets in the database can be read${advice}.`)]
  } catch (cause) {
    return [...found, unreadable(cause instanceof Error ? cause.message : String(cause))]
  }
}

interface About {
  readonly version: string
  readonly major: number
  readonly name: string
  readonly user: string
  readonly schema: string | null
  readonly isReadOnly: boolean
  readonly mayCreate: boolean | null
}

const ABOUT = `
SELECT current_setting('server_version') AS version,
  current_setting('server_version_num')::int / 10000 AS major,
  current_database()::text AS name, current_user::text AS "user", current_schema()::text AS schema,
  pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS "isReadOnly",
  has_schema_privilege(current_schema(), 'CREATE') AS "mayCreate"`

/** A list of privileges in one argument would mean any of them. */
const TABLES_WITHOUT_RIGHTS = `
SELECT relname::text AS name FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND relname <> '_prisma_migrations'
  AND NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
    AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))
ORDER BY relname`

const SIGNING_KEY = `
SELECT id, sealed, secret FROM signing_keys WHERE retired_at IS NULL ORDER BY created_at DESC, id DESC LIMIT 1`
