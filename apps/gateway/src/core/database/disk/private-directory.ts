import * as fs from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { OperatorError } from '#core/base/errors/operator-error.ts'
import { makeDirectory } from './make-directory.ts'

/** What accounts other than the owner's may do with a directory, as bits of its mode. */
const OF_OTHERS = 0o077

/** What a file system does with modes, which a test replaces because it cannot be another account. */
interface ModeOperations {
  chmod(path: string, mode: number): Promise<void>
  mkdtemp(prefix: string): Promise<string>
}

/**
 * Creates a directory that only the account of this process can enter, or closes one that is open to others, whatever stands
 * around it.
 *
 * @throws OperatorError if it stays open although modes work in its file system
 */
export async function makePrivateDirectory(
  path: string,
  { chmod, mkdtemp }: ModeOperations = { chmod: fs.chmod, mkdtemp: fs.mkdtemp },
): Promise<void> {
  await makeDirectory(path)
  if (!(await isOpenToOthers(path))) return
  try {
    await chmod(path, 0o700)
  } catch (error) {
    if (!(await haveModes(dirname(path), mkdtemp))) return
    throw new OperatorError(
      `DATA_DIR: other accounts of this machine can read the database in ${path}, which belongs to another account. Make it the property of the account that runs Trunkline, and take the rights of others away: chmod 700 ${path}`,
      { cause: error },
    )
  }
}

/** Whether other accounts may list the directory, enter it or write to it. */
export async function isOpenToOthers(path: string): Promise<boolean> {
  return ((await fs.stat(path)).mode & OF_OTHERS) !== 0
}

/** Some file systems, such as those of Windows, give every file the same mode. */
async function haveModes(directory: string, mkdtemp: ModeOperations['mkdtemp']): Promise<boolean> {
  const probe = await mkdtemp(join(directory, '.trunkline-modes-'))
  const isOpen = await isOpenToOthers(probe)
  await fs.rmdir(probe)
  return !isOpen
}
