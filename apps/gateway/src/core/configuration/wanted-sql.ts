import type { Who } from '#core/audit/actor.ts'
import { eventJson } from '#core/audit/audit.ts'
import type { AuditOperation } from '#core/audit/operations.ts'
import { isObject } from '#core/base/values/json.ts'
import type { Sql } from '#core/database/database.ts'
import { WANTED_CONFIGURATION } from '#core/ledger/configuration-state.ts'

/** The configuration that all processes should serve. */
export interface WantedConfiguration {
  /** Goes up with each reload, at which every process reads its file. */
  readonly number: number
  /** That of the process which was asked to reload, or which has started since with another configuration. */
  readonly fingerprint: string
}

/** What a process serves, for the others, for the audit log and for operators. */
export interface ServedConfiguration {
  readonly fingerprint: string
  /** Without secrets, the same text for the same configuration. */
  readonly description: object
  /** What differs from the start of the process and stays as it is until the next one, as places in the file. */
  readonly needsRestart: readonly string[]
}

/**
 * Makes a configuration the one that all processes should serve, and adds an event to the audit log if it is another one than before.
 * Processes that start with the same one add a single event.
 *
 * @param isReload - whether the other processes should read their files
 * @returns what is wanted now, and the description of what was wanted before
 */
export async function wantConfiguration(
  sql: Sql,
  { fingerprint, description }: Pick<ServedConfiguration, 'fingerprint' | 'description'>,
  { who, isReload }: { readonly who: Who; readonly isReload: boolean },
): Promise<WantedConfiguration & { readonly before: unknown }> {
  const operation: AuditOperation = isReload ? 'configuration.reload' : 'configuration.load'
  const event = eventJson(who, { operation, target: 'configuration' })
  const [row] = await sql.query<{ wanted: string; before: string | null }>(WANT, [
    JSON.stringify(description),
    event,
    WANTED_CONFIGURATION,
    fingerprint,
    isReload ? 1 : 0,
  ])
  const wanted = parseWanted(row?.wanted) ?? { number: 0, fingerprint }
  return { ...wanted, before: row?.before ? JSON.parse(row.before) : undefined }
}

export async function readWantedConfiguration(sql: Sql): Promise<WantedConfiguration | undefined> {
  const [row] = await sql.query<{ value: string }>(READ, [WANTED_CONFIGURATION])
  return parseWanted(row?.value)
}

function parseWanted(text: string | undefined): WantedConfiguration | undefined {
  const value: unknown = text === undefined ? undefined : JSON.parse(text)
  if (!isObject(value) || typeof value.number !== 'number' || typeof value.fingerprint !== 'string')
    return undefined
  return { number: value.number, fingerprint: value.fingerprint }
}

const READ = 'SELECT value FROM settings WHERE name = $1'

/**
 * `$1`: the description, `$2`: the event without its states, `$3`: the name of the setting, `$4`: the fingerprint, `$5`: 1 for a
 * reload, else 0. The time says since when processes may still differ.
 */
const WANT = `
WITH was AS MATERIALIZED (
  SELECT value FROM settings WHERE name = 'configuration'
), became AS (
  INSERT INTO settings (name, value) VALUES ('configuration', $1)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE settings.value <> excluded.value
  RETURNING value
), recorded AS MATERIALIZED (
  SELECT audit_append($2::jsonb || jsonb_build_object('before', (SELECT value FROM was), 'after', value)) AS event
  FROM became
), wanted AS (
  INSERT INTO settings AS s (name, value)
  VALUES ($3, jsonb_build_object('number', $5::int, 'fingerprint', $4::text, 'since', now())::text)
  ON CONFLICT (name) DO UPDATE SET value = CASE
    WHEN $5::int = 0 AND s.value::jsonb ->> 'fingerprint' = $4::text THEN s.value
    ELSE jsonb_build_object(
      'number', (s.value::jsonb ->> 'number')::int + $5::int, 'fingerprint', $4::text, 'since', now())::text
  END
  RETURNING value
)
SELECT value AS wanted, (SELECT value FROM was) AS before, (SELECT count(event) FROM recorded) AS events FROM wanted`
