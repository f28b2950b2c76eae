import { createHash } from 'node:crypto'
import pg from 'pg'
import type { Sql } from './database.ts'
import { ROW_PARSERS } from './row-parsers.ts'

/** Opens a pool whose rows have the values that {@link Sql} promises. */
export function openPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({
    ...config,
    application_name: 'trunkline',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: { getTypeParser: (oid, format) => ROW_PARSERS[oid] ?? pg.types.getTypeParser(oid, format) },
  })
  // The pool has already removed an idle connection that was lost; without a listener the event would end the process.
  pool.on('error', () => {})
  return pool
}

/** Runs each statement on a connection of the pool. */
export function poolSql(pool: pg.Pool): Sql {
  const prepared = statements()
  return {
    async query<Row>(text: string, values: readonly unknown[] = []) {
      const { rows } = await pool.query(prepared(text, values))
      return rows as Row[]
    },
  }
}

/** Further statements are not prepared, because the server keeps a plan of each statement for every connection. */
const STATEMENTS_MAX = 256

/** Returns a function that names statements, so that the server prepares each once per connection and reuses its plan. */
export function statements(): (text: string, values: readonly unknown[]) => pg.QueryConfig {
  const names = new Map<string, string>()
  return (text, values) => {
    let name = names.get(text)
    if (name === undefined && names.size < STATEMENTS_MAX) {
      name = createHash('sha256').update(text).digest('base64url')
      names.set(text, name)
    }
    return { ...(name !== undefined && { name }), text, values: values as unknown[] }
  }
}
