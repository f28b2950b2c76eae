import { randomUUID } from 'node:crypto'
import pg from 'pg'

export interface ScratchDatabase {
  readonly url: string
  drop(): Promise<void>
}

/** For tests: a new, empty database on this server. */
export async function createScratchDatabase(serverUrl: string): Promise<ScratchDatabase> {
  const name = `scratch_${randomUUID().replaceAll('-', '')}`
  const url = new URL(serverUrl)
  url.pathname = name
  await runOn(serverUrl, `CREATE DATABASE ${name}`)
  return { url: url.href, drop: () => runOn(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`) }
}

async function runOn(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
