import { createHash, randomUUID } from 'node:crypto'
import { cpSync, existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { handled } from '#core/handled.ts'
import type { Database } from './database.ts'
import { openDatabase } from './open.ts'

/** For tests: an empty database of its own, on this server or embedded, which is gone when it is closed. */
export async function openScratchDatabase(serverUrl?: string): Promise<Database> {
  if (serverUrl !== undefined) {
    const { url, drop } = await createScratchDatabase(serverUrl)
    return withDrop(await openDatabase({ kind: 'server', url }), drop)
  }
  const dataDir = await mkdtemp(join(tmpdir(), 'trunkline-'))
  await copyEmptyDatabase(dataDir)
  const drop = () => rm(dataDir, { recursive: true, force: true })
  return withDrop(await openDatabase({ kind: 'embedded', dataDir }), drop)
}

function withDrop(database: Database, drop: () => Promise<void>): Database {
  return { ...database, close: () => database.close().finally(drop) }
}

export interface ScratchDatabase {
  readonly url: string
  drop(): Promise<void>
}

/** For tests: a new, empty database on this server. */
export async function createScratchDatabase(serverUrl: string): Promise<ScratchDatabase> {
  const name = `trunkline_scratch_${randomUUID().replaceAll('-', '')}`
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

/** For tests: what a first start does in its data directory before the migrations, which takes PGlite seconds. */
export async function copyEmptyDatabase(dataDir: string): Promise<void> {
  made ??= handled(makeEmptyDatabase())
  // Not the asynchronous one, which takes ten times as long over a thousand files.
  cpSync(await made, join(dataDir, 'db'), { recursive: true })
}

const CACHE = join(import.meta.dirname, '../../../node_modules/.cache/trunkline')
let made: Promise<string> | undefined

/** Made once for each version of PGlite, and kept beside the packages. */
async function makeEmptyDatabase(): Promise<string> {
  const pglite = createRequire(import.meta.url).resolve('@electric-sql/pglite')
  const kept = join(CACHE, `empty-${createHash('sha256').update(pglite).digest('hex').slice(0, 16)}`)
  if (existsSync(kept)) return kept
  await mkdir(CACHE, { recursive: true })
  const making = await mkdtemp(join(CACHE, 'making-'))
  const database = await openDatabase({ kind: 'embedded', dataDir: making })
  await database.close()
  // Another process may have been faster; one of them is as good as the other.
  await rename(join(making, 'db'), kept).catch((error) => {
    if (!existsSync(kept)) throw error
  })
  await rm(making, { recursive: true })
  return kept
}
