import type { Database } from '#core/database/database.ts'
import type { Channel } from './channel.ts'

/** PostgreSQL delivers notifications within one database, so that no other installation gets them. */
const CHANNEL = 'trunkline_wake_ups'

/** PostgreSQL refuses a message of 8,000 bytes; 250 ids have 5,500. */
const IDS_PER_MESSAGE = 250

/** Messages by `NOTIFY`, sent over the pool. */
export function postgresChannel({ sql, listen }: Pick<Required<Database>, 'sql' | 'listen'>): Channel {
  return {
    idsPerMessage: IDS_PER_MESSAGE,
    // The pool opens its connections when they are needed.
    canPublish: true,
    async publish(messages) {
      await sql.query(NOTIFY, [CHANNEL, messages])
    },
    subscribe: (onMessage) => listen(CHANNEL, onMessage),
  }
}

/**
 * `$1`: the channel, `$2`: the messages. The commit does not wait for the disk: messages are never on it, and all processes that
 * notify wait for each other's commits.
 */
const NOTIFY = `
WITH quick AS MATERIALIZED (
  SELECT set_config('synchronous_commit', 'off', true) AS mode
)
SELECT count(pg_notify($1, message)) FROM unnest($2::text[]) AS message
WHERE (SELECT count(mode) FROM quick) > 0`
