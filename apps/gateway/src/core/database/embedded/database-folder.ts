import { lstat, open, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { OperatorError } from '#core/base/errors/operator-error.ts'
import { errorCode } from '#core/base/values/error-code.ts'
import { withoutTrailing } from '#core/base/values/without-trailing.ts'
import { messageOf, unusableDatabaseError } from '#core/database/unusable-database.ts'

/** `none`: a new database may be made in it, also where an earlier one was not finished. */
export type FolderContent = 'none' | 'database'

/** Is in the folder from before a new database is made in it until that was opened once. */
const UNFINISHED = 'unfinished'
/** A file system has it where it is mounted. */
const OF_FILE_SYSTEM = 'lost+found'
const NAMES_SHOWN = 3

/**
 * Looks into the folder of an embedded database before anything opens it. The engine makes a new database wherever it does not find
 * one, also over the remains of another or over files of another program.
 *
 * @throws OperatorError if the folder is a link or a file, or has something else than a database
 */
export async function contentOfFolder(path: string): Promise<FolderContent> {
  const found = await lstat(path).catch((error: unknown) => {
    if (!['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? ''))
      throw unusableDatabaseError('embedded', error)
  })
  if (found === undefined) return 'none'
  if (found.isSymbolicLink())
    throw new OperatorError(
      `DATA_DIR: ${path} is a symbolic link. The embedded database is not opened through one, because the lock of DATA_DIR does not protect where it leads. Put the folder itself there or mount it there, or set DATA_DIR to a folder on the other disk.`,
    )
  if (!found.isDirectory())
    throw new OperatorError(`DATA_DIR: the database cannot be used: ${path} is not a folder.`)
  const names = (await readdir(path)).filter((name) => name !== OF_FILE_SYSTEM)
  if (names.includes('PG_VERSION')) return 'database'
  if (names.length === 0 || names.includes(UNFINISHED)) return 'none'
  const shown = names.sort().slice(0, NAMES_SHOWN).join(', ')
  throw new OperatorError(
    `DATA_DIR: ${path} is not empty (${shown}${names.length > NAMES_SHOWN ? ', …' : ''}), but it has no PG_VERSION and is no whole database. No new one is made over it. Put the missing files back, or move the folder away and start again, for a new database, or restore a backup ("trunkline db import").`,
  )
}

/** Marks that a new database is being made in the folder, which may be interrupted. */
export async function markUnfinished(path: string): Promise<void> {
  await (await open(join(path, UNFINISHED), 'w', 0o600)).close()
}

/** To be called once a database was opened. */
export async function markFinished(path: string): Promise<void> {
  await rm(join(path, UNFINISHED), { force: true })
}

/** Why the engine could not open the database in the folder, with what to do. */
export async function openingError(path: string, cause: unknown): Promise<OperatorError> {
  const version = await readFile(join(path, 'PG_VERSION'), 'utf8').catch(() => '')
  const isUnfinished = (await readdir(path).catch((): string[] => [])).includes(UNFINISHED)
  const what = isUnfinished
    ? `Its making was interrupted, so it has nothing yet: delete the folder and start again.`
    : `Unless the disk is full or cannot be written, files in it are damaged, missing, links, or of another version of PostgreSQL. Keep a copy of the folder, move it away, and restore a backup ("trunkline db import").`
  return new OperatorError(
    `DATA_DIR: the database in ${path}${version && `, of PostgreSQL ${version.trim()},`} cannot be opened: ${reasonOf(cause)}. ${what}`,
    { cause },
  )
}

/** Without the advice that its compiler gives to the authors of the engine. */
const reasonOf = (cause: unknown) => withoutTrailing(messageOf(cause).split(' Build with -s', 1).join(), '.')
