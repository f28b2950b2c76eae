import type { Dirent } from 'node:fs'
import { access, constants, lstat, mkdir, open, opendir, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { inTime } from '#core/base/async/in-time.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import type { Runtime } from '#core/base/runtime.ts'
import { errorCode } from '#core/base/values/error-code.ts'
import { withoutTrailing } from '#core/base/values/without-trailing.ts'
import { AMPLE_SPACE, type DiskSpace } from '#core/database/disk/disk-space.ts'
import { makeDirectory } from '#core/database/disk/make-directory.ts'
import { checkWithFile } from './check-with-file.ts'
import { addressUnder, isToken, shardOf, urlUnder } from './file-address.ts'
import {
  type FileAddress,
  FileMissing,
  type FileStorage,
  STALLED_MS,
  StorageError,
  type StoredFile,
} from './storage.ts'
import { translatedStream } from './translated-stream.ts'
import { untilAborted } from './until-aborted.ts'

export interface DiskStorageOptions {
  /** Created if needed. Nothing else may be in it. */
  readonly folder: string
  /** What the outside calls the gateway, which serves the files at `/files/<token>/<name>`; known once it listens. */
  publicUrl(): string
  readonly runtime: Pick<Runtime, 'randomBytes'>
  /** A file that is being written ends when too little space is left. Defaults to {@link AMPLE_SPACE}. */
  readonly space?: Pick<DiskSpace, 'isLow'>
  /** How long the disk, which may be another machine's, may take to open a file, and to remove files. */
  readonly stalledMs?: number
}

/** Files in a local folder, which the gateway serves itself. */
export interface DiskStorage extends FileStorage {
  readonly kind: 'disk'
  /**
   * Where a file is, whether or not it exists.
   *
   * @throws FileMissing if the token, which may come from a URL, has not the form of one
   */
  pathOf(address: FileAddress): string
}

/**
 * Stores files on a local disk. A file is at `<folder>/<2 characters of its token>/<token>`; its name is not part of the
 * path, because not every file system takes every name. Until it is complete, it is in `<folder>/unfinished`.
 */
export function createDiskStorage(options: DiskStorageOptions): DiskStorage {
  const { folder, runtime, space = AMPLE_SPACE, stalledMs = STALLED_MS } = options
  const base = () => `${withoutTrailing(options.publicUrl(), '/')}/files/`
  const unfinishedFolder = join(folder, 'unfinished')
  const guard = guardOf(folder)
  const requireSpace = () => {
    if (space.isLow) throw new StorageError(`Files cannot be stored in ${folder}: too little space is left.`)
  }

  const pathOf = ({ token, name }: FileAddress) => {
    if (!isToken(token)) throw new FileMissing({ token, name })
    return join(folder, shardOf(token), token)
  }

  const storage: DiskStorage = {
    kind: 'disk',
    urlLifeSecondsMax: Number.POSITIVE_INFINITY,
    pathOf,
    prepare: () => guard(makeDirectory(unfinishedFolder)),
    async write(file, body, signal) {
      const path = pathOf(file)
      const unfinished = join(unfinishedFolder, runtime.randomBytes(16).toString('hex'))
      try {
        await writeChunks(unfinished, untilAborted(body, signal), { guard, requireSpace })
        signal.throwIfAborted()
        await guard(publish(unfinished, path))
      } catch (error) {
        // Whatever cannot be removed here is removed by `removeUnfinished`.
        await rm(unfinished, { force: true }).catch(() => undefined)
        throw error
      }
    },
    async read(address) {
      const opening = markRejectionHandled(open(pathOf(address)))
      const file = await inTime(opening, AbortSignal.timeout(stalledMs)).catch((error: unknown) => {
        opening.then((late) => late.close()).catch(() => undefined)
        throw isMissing(error) ? new FileMissing(address) : diskError(folder, error)
      })
      return translatedStream(file.createReadStream(), (error) => diskError(folder, error))
    },
    async remove(addresses, signal = AbortSignal.timeout(stalledMs)) {
      for (const address of addresses) {
        if (isToken(address.token)) await guard(inTime(rm(pathOf(address), { force: true }), signal))
      }
    },
    urlOf: async (address) => urlUnder(base(), address),
    addressOf: (url) => addressUnder(base(), url),
    list: (tokenPrefix) => inBatches(filesIn(folder, tokenPrefix, guard)),
    async removeUnfinished(before) {
      let count = 0
      for await (const { path, modifiedAt } of entriesIn(unfinishedFolder, guard)) {
        if (modifiedAt >= before) continue
        await guard(rm(path, { force: true }))
        count += 1
      }
      return count
    },
    ping: () => guard(access(unfinishedFolder, constants.R_OK | constants.W_OK | constants.X_OK)),
    async check() {
      await checkWithFile(storage, runtime, async (address) =>
        Buffer.concat(await (await storage.read(address)).toArray()),
      )
      return []
    },
    close: () => undefined,
  }
  return storage
}

/** Translates the errors of the file system. */
type Guard = <Result>(work: Promise<Result>) => Promise<Result>

const guardOf =
  (folder: string): Guard =>
  (work) =>
    work.catch((error: unknown) => {
      throw diskError(folder, error)
    })

/** Writes a new file and resolves when its content is on the disk. Only errors of the disk are translated, not those of `chunks`. */
async function writeChunks(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  { guard, requireSpace }: { guard: Guard; requireSpace(): void },
): Promise<void> {
  const file = await guard(open(path, 'wx', 0o600))
  try {
    // The next chunk is not read before this one is written, so that a slow disk slows down the sender.
    for await (const chunk of chunks) {
      requireSpace()
      await guard(file.writeFile(chunk))
    }
    await guard(file.sync())
  } finally {
    await guard(file.close())
  }
}

/** Moves a complete file to its path, and resolves when a power cut cannot undo that. */
async function publish(unfinished: string, path: string): Promise<void> {
  const folder = dirname(path)
  const isNew = (await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined
  if (isNew) await syncDirectory(dirname(folder))
  await rename(unfinished, path)
  try {
    await syncDirectory(folder)
  } catch (error) {
    await rm(path, { force: true })
    throw error
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

interface FoundFile {
  readonly path: string
  readonly name: string
  readonly modifiedAt: Date
}

/** Only the names of one shard are held at a time, since they must be sorted. */
async function* filesIn(folder: string, tokenPrefix: string, guard: Guard): AsyncGenerator<StoredFile> {
  for (const shard of await sortedNames(folder, guard)) {
    if (shard.length !== 2) continue
    for (const token of await sortedNames(join(folder, shard), guard)) {
      if (!isToken(token) || !token.startsWith(tokenPrefix)) continue
      const stats = await guard(lstat(join(folder, shard, token)).catch(undefinedIfMissing))
      if (stats?.isFile()) yield { address: { token, name: '' }, modifiedAt: stats.mtime }
    }
  }
}

/** The names in a directory; none if it is missing, or a file. */
async function sortedNames(path: string, guard: Guard): Promise<string[]> {
  const names = await guard(
    readdir(path).catch((error: unknown) => {
      if (errorCode(error) !== 'ENOTDIR') undefinedIfMissing(error)
    }),
  )
  return names?.sort() ?? []
}

async function* entriesIn(folder: string, guard: Guard): AsyncGenerator<FoundFile> {
  for await (const { name } of directoryOf(folder, guard)) {
    const path = join(folder, name)
    const stats = await guard(lstat(path).catch(undefinedIfMissing))
    if (stats?.isFile()) yield { path, name, modifiedAt: stats.mtime }
  }
}

/** The entries of a directory one by one, since there may be too many to hold their names at once. */
async function* directoryOf(path: string, guard: Guard): AsyncGenerator<Dirent> {
  const directory = await guard(opendir(path).catch(undefinedIfMissing))
  if (directory === undefined) return
  try {
    for (;;) {
      const entry = await guard(directory.read())
      if (entry === null) return
      yield entry
    }
  } finally {
    await directory.close()
  }
}

async function* inBatches<Item>(items: AsyncIterable<Item>): AsyncGenerator<readonly Item[]> {
  let batch: Item[] = []
  for await (const item of items) {
    batch.push(item)
    if (batch.length < 1_000) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

const isMissing = (error: unknown) => errorCode(error) === 'ENOENT'

function undefinedIfMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error
}

/** The error of the system is replaced, because its message names the path, and so the token of a file, which is a secret. */
function diskError(folder: string, error: unknown): StorageError {
  if (error instanceof Error && error.name === 'TimeoutError')
    return new StorageError(`The disk of ${folder} does not answer in time.`, { cause: error })
  const code = errorCode(error) ?? 'an unknown error'
  const reason = REASONS[code]
  const call = error instanceof Error && 'syscall' in error ? ` ${String(error.syscall)}` : ''
  return new StorageError(
    `Files cannot be stored in ${folder}: ${reason === undefined ? `the system reports ${code}` : `${reason} (${code})`}.`,
    { cause: new Error(`The call${call} failed with ${code}.`) },
  )
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'this user has no permission',
  EPERM: 'this user has no permission',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of the disk is used up',
  EFBIG: 'the file is too large for the file system',
  EMFILE: 'the process has too many open files',
  ENFILE: 'the system has too many open files',
  ENOENT: 'the folder does not exist',
  ENOTDIR: 'its path leads through a file',
  EEXIST: 'its path leads through a file',
  EIO: 'the disk has failed',
}
