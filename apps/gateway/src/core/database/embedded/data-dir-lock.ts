import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { OperatorError } from '#core/base/errors/operator-error.ts'
import { makeDirectory } from '#core/database/disk/make-directory.ts'

export interface DataDirLock {
  release(): Promise<void>
}

/** The data directory cannot be used: its path leads to a file, or it is not writable. */
export class DataDirError extends OperatorError {
  constructor(dataDir: string, problem: string, cause: unknown) {
    super(`DATA_DIR: ${dataDir} cannot be used: ${problem}.`, { cause })
  }
}

/** Another process uses this data directory. */
export class DataDirBusyError extends OperatorError {
  readonly dataDir: string
  /** The process id of the owner, if it could be read. */
  readonly pid: number | undefined

  constructor(dataDir: string, pid: number | undefined, cause: unknown) {
    const owner = pid === undefined ? 'another process' : `the process ${pid}`
    super(`The data directory ${dataDir} is in use by ${owner}.`, { cause })
    this.dataDir = dataDir
    this.pid = pid
  }
}

/**
 * Makes this process the only owner of a data directory until it releases the lock or ends. Creates the directory if needed.
 *
 * The lock is SQLite's file lock on an empty database, since Node has no file locks of its own: the kernel grants it to a
 * single process and releases it even after kill -9. Nothing else in this process may open that file, because closing any
 * descriptor of a file releases the process's POSIX locks on it.
 *
 * @throws DataDirBusyError, DataDirError
 */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  try {
    await makeDirectory(dataDir)
    return await lock(dataDir)
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw new DataDirError(dataDir, await causeOf(dataDir, error), error)
  }
}

async function lock(dataDir: string): Promise<DataDirLock> {
  const pidFile = join(dataDir, 'gateway.pid')
  const file = new DatabaseSync(join(dataDir, 'lock'))
  try {
    file.exec('BEGIN EXCLUSIVE')
    await writeFile(pidFile, String(process.pid))
  } catch (error) {
    file.close()
    throw isBusy(error) ? new DataDirBusyError(dataDir, await readPid(pidFile), error) : error
  }
  openLocks.add(file)
  return {
    async release() {
      await rm(pidFile, { force: true })
      openLocks.delete(file)
      file.close()
    },
  }
}

/** Describes why a directory cannot be used: a file on its path is easier to recognize than the error that it caused. */
async function causeOf(dataDir: string, error: unknown): Promise<string> {
  for (let path = dataDir; path !== dirname(path); path = dirname(path)) {
    const found = await stat(path).catch(() => undefined)
    if (found !== undefined && !found.isDirectory()) return `${path} is a file, not a directory`
  }
  return `it cannot be written to (${error instanceof Error ? error.message : String(error)})`
}

/** Keeps the open files reachable: garbage collection would close them and so release their locks. */
const openLocks = new Set<DatabaseSync>()

const SQLITE_BUSY = 5

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY
}

async function readPid(pidFile: string): Promise<number | undefined> {
  const text = await readFile(pidFile, 'utf8').catch(() => '')
  return Number(text) || undefined
}
