import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export interface DataDirLock {
  release(): Promise<void>
}

/** Another process works in this data directory. */
export class DataDirBusyError extends Error {
  readonly dataDir: string
  /** Of the owner, where it could be read. */
  readonly pid: number | undefined

  constructor(dataDir: string, pid: number | undefined, cause: unknown) {
    const owner = pid === undefined ? 'another process' : `the process ${pid}`
    super(`The data directory ${dataDir} is in use by ${owner}.`, { cause })
    this.name = 'DataDirBusyError'
    this.dataDir = dataDir
    this.pid = pid
  }
}

/**
 * Makes this process the only owner of a data directory, until it releases the lock or ends in whatever way.
 *
 * The lock is SQLite's, on an empty file: the kernel gives it to one process and takes it back at kill -9, and Node offers
 * no other such lock. Nothing else may open that file here: closing any handle of it would give the lock up.
 */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const pidFile = join(dataDir, 'gateway.pid')
  const file = new DatabaseSync(join(dataDir, 'lock'))
  try {
    file.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    file.close()
    throw isBusy(error) ? new DataDirBusyError(dataDir, await readPid(pidFile), error) : error
  }
  held.add(file)
  await writeFile(pidFile, String(process.pid))
  return {
    async release() {
      await rm(pidFile, { force: true })
      held.delete(file)
      file.close()
    },
  }
}

/** Garbage collection would close a file that is not kept, and so unlock it. */
const held = new Set<DatabaseSync>()

const SQLITE_BUSY = 5

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY
}

async function readPid(pidFile: string): Promise<number | undefined> {
  const text = await readFile(pidFile, 'utf8').catch(() => '')
  return Number(text) || undefined
}
