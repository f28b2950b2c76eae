import type { Sql } from '#core/database/database.ts'
import { GATEWAY } from './actor.ts'
import { eventJson } from './audit.ts'

/**
 * Adds an event if the configuration is another one than that with which a process has last started. Processes that start with
 * the same one add a single event.
 *
 * @param configuration - without secrets, the same text for the same configuration
 */
export async function recordConfiguration(sql: Sql, configuration: object): Promise<void> {
  const event = eventJson(GATEWAY, { operation: 'configuration.load', target: 'configuration' })
  await sql.query(RECORD, [JSON.stringify(configuration), event])
}

/** `$1`: the configuration, `$2`: the event without its states. */
const RECORD = `
WITH was AS MATERIALIZED (
  SELECT value FROM settings WHERE name = 'configuration'
), became AS (
  INSERT INTO settings (name, value) VALUES ('configuration', $1)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE settings.value <> excluded.value
  RETURNING value
)
SELECT audit_append($2::jsonb || jsonb_build_object('before', (SELECT value FROM was), 'after', value)) FROM became`
