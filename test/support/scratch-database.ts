import { randomUUID } from 'node:crypto'
import pg from 'pg'

/** A database of its own for one gateway; dropped with everything in it. */
export async function createScratchDatabase(server: string): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `trunkline_test_${randomUUID().replaceAll('-', '')}`
  await execute(server, `CREATE DATABASE ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => execute(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) }
}

/** Asks a database directly, beside the gateway. */
export async function query<Row extends pg.QueryResultRow>(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Row>(text, [...values])).rows
  } finally {
    await client.end()
  }
}

async function execute(url: string, statement: string): Promise<void> {
  await query(url, statement)
}
