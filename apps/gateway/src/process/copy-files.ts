import { existsSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import type { Config } from '#config/load.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import { OperatorError } from '#core/errors/operator-error.ts'
import { createDiskStorage } from '#core/uploads/storage/disk-storage.ts'
import { openStorage } from '#core/uploads/storage/open-storage.ts'
import { FileMissing, type FileStorage, type NewFile, StorageError } from '#core/uploads/storage/storage.ts'
import type { UploadFiles } from '#core/uploads/upload-rows.ts'
import { runCommand } from './run-command.ts'

/** A copy of the uploaded files that can begin. */
export interface FileCopy {
  /**
   * Copies the files of all uploads that exist. May be repeated after an interruption: files that the destination has are
   * complete, and are not copied again.
   *
   * @throws StorageError, OperatorError
   */
  run(): Promise<CopiedFiles>
}

export interface CopiedFiles {
  /** Files that the destination has now. */
  readonly files: number
  /** Files that were deleted during the copy, or were missing before. */
  readonly missing: number
}

/**
 * Prepares a copy from the local disk, where an embedded database has its files, to another folder, or for `s3` to the bucket
 * of `S3_BUCKET`.
 *
 * @throws StorageError, OperatorError if one of the two cannot be used
 */
export async function openFileCopy(config: Config, destination: string): Promise<FileCopy> {
  const nextBatch = (after?: string) =>
    runCommand(config, 'uploads files', after === undefined ? {} : { after })
  const source = join(config.dataDir, 'files')
  const to = await openDestination(config, source, destination)
  requireSource(source, await nextBatch())
  await to.prepare()
  await to.ping()
  return {
    run: () => copyAll(nextBatch, openFolder(config, source), to),
  }
}

type NextBatch = (after?: string) => Promise<UploadFiles>

/**
 * Prepares a copy from a folder of an export to the local disk of `DATA_DIR`.
 *
 * @throws StorageError, OperatorError if one of the two cannot be used
 */
export async function openFileRestore(
  config: Config,
  folder: string,
): Promise<(nextBatch: NextBatch) => Promise<CopiedFiles>> {
  const source = resolve(folder)
  if (!existsSync(source)) throw new OperatorError(`--files: there is no folder ${source}.`)
  const to = await openDestination(config, source, join(config.dataDir, 'files'))
  await to.prepare()
  await to.ping()
  return (nextBatch) => copyAll(nextBatch, openFolder(config, source), to)
}

async function copyAll(nextBatch: NextBatch, from: FileStorage, to: FileStorage): Promise<CopiedFiles> {
  const there = await tokensIn(to)
  const copied = { files: 0, missing: 0 }
  let batch = await nextBatch()
  for (;;) {
    for (const file of batch.files) {
      const isThere = there.has(file.token) || (await copy(file, from, to))
      copied[isThere ? 'files' : 'missing'] += 1
    }
    if (batch.last === undefined) return copied
    batch = await nextBatch(batch.last)
  }
}

async function openDestination(config: Config, source: string, destination: string): Promise<FileStorage> {
  if (destination === 's3') {
    if (config.s3 !== undefined)
      return openStorage(config, { runtime: systemRuntime, publicUrl: () => config.publicUrl })
    throw new OperatorError('S3_BUCKET: is not set; it names the bucket to which "--files s3" copies.')
  }
  const folder = resolve(destination)
  const [from, to] = [await realPathOf(source), await realPathOf(folder)]
  if (contains(from, to) || contains(to, from)) {
    throw new OperatorError(`--files: expected a folder that is neither in nor around ${source}.`)
  }
  return openFolder(config, folder)
}

function openFolder({ publicUrl }: Config, folder: string): FileStorage {
  return createDiskStorage({ folder, publicUrl: () => publicUrl, runtime: systemRuntime })
}

async function realPathOf(path: string): Promise<string> {
  return realpath(path).catch(() => path)
}

function contains(folder: string, path: string): boolean {
  return !/^\.\.($|[/\\])/.test(relative(folder, path))
}

/** Otherwise every file would be taken for one that was deleted during the copy. */
function requireSource(source: string, { files }: UploadFiles): void {
  if (files.length === 0 || existsSync(source)) return
  throw new OperatorError(
    `DATA_DIR: there is no folder ${source}. If the uploaded files are in S3, they need no copy.`,
  )
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
