import { existsSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { relative, resolve } from 'node:path'
import type { Config } from '#config/load.ts'
import { OperatorError } from '#core/base/errors/operator-error.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import { createDiskStorage } from '#core/uploads/storage/disk-storage.ts'
import { openStorage } from '#core/uploads/storage/open-storage.ts'
import { FileMissing, type FileStorage, type NewFile, StorageError } from '#core/uploads/storage/storage.ts'
import type { UploadFiles } from '#core/uploads/upload-rows.ts'

export interface CopiedFiles {
  /** Files that the destination has now. */
  readonly files: number
  /** Files that were deleted during the copy, or were missing before. */
  readonly missing: number
}

/**
 * Copies the files of all uploads that exist. May be repeated after an interruption: files that the destination has are
 * complete, and are not copied again.
 *
 * @param nextBatch - reads the files of uploads after the one with this id
 * @throws StorageError, OperatorError
 */
export type FileCopy = (nextBatch: (after?: string) => Promise<UploadFiles>) => Promise<CopiedFiles>

/**
 * Prepares a copy of uploaded files from one folder to another, or for `s3` to the bucket of `S3_BUCKET`.
 *
 * @throws StorageError, OperatorError if one of the two cannot be used
 */
export async function openFileCopy(config: Config, source: string, destination: string): Promise<FileCopy> {
  const folder = resolve(source)
  // Otherwise every file would be taken for one that was deleted during the copy.
  if (!existsSync(folder))
    throw new OperatorError(
      `--files: there is no folder ${folder}. If the uploaded files are in S3, they need no copy.`,
    )
  const from = openFolder(config, folder)
  const to = await openDestination(config, folder, destination)
  await to.prepare()
  await to.ping()
  return async (nextBatch) => {
    const there = await tokensIn(to)
    const copied = { files: 0, missing: 0 }
    for (let after: string | undefined; ; ) {
      const { files, last } = await nextBatch(after)
      for (const file of files) {
        const isThere = there.has(file.token) || (await copy(file, from, to))
        copied[isThere ? 'files' : 'missing'] += 1
      }
      if (last === undefined) return copied
      after = last
    }
  }
}

async function openDestination(config: Config, source: string, destination: string): Promise<FileStorage> {
  if (destination === 's3') {
    if (config.s3 !== undefined)
      return openStorage(config, { runtime: systemRuntime, publicUrl: () => config.publicUrl })
    throw new OperatorError('S3_BUCKET: is not set; it names the bucket to which "--files s3" copies.')
  }
  const folder = resolve(destination)
  const [from, to] = await Promise.all([source, folder].map((path) => realpath(path).catch(() => path)))
  if (contains(from ?? source, to ?? folder) || contains(to ?? folder, from ?? source)) {
    throw new OperatorError(`--files: expected a folder that is neither in nor around ${source}.`)
  }
  return openFolder(config, folder)
}

function openFolder({ publicUrl }: Config, folder: string): FileStorage {
  return createDiskStorage({ folder, publicUrl: () => publicUrl, runtime: systemRuntime })
}

function contains(folder: string, path: string): boolean {
  return !/^\.\.($|[/\\])/.test(relative(folder, path))
}

/** The files that a copy before this one has brought there. Credentials that may not list them only make this copy longer. */
async function tokensIn(storage: FileStorage): Promise<Set<string>> {
  const tokens = new Set<string>()
  try {
    for await (const batch of storage.list('')) for (const { address } of batch) tokens.add(address.token)
  } catch (error) {
    if (!(error instanceof StorageError)) throw error
  }
  return tokens
}

/** Returns false if the file does not exist, for example because it has been deleted in the meantime. */
async function copy(file: NewFile, from: FileStorage, to: FileStorage): Promise<boolean> {
  try {
    await to.write(file, await from.read(file), new AbortController().signal)
    return true
  } catch (error) {
    if (error instanceof FileMissing) return false
    throw error
  }
}
