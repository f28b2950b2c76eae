import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemRuntime } from '#core/base/runtime.ts'
import { createDiskStorage, type DiskStorage } from './disk-storage.ts'
import { shardOf } from './file-address.ts'
import {
  bodyOf,
  FAR_FUTURE,
  listed,
  MIB,
  never,
  newFile,
  randomContent,
  stallingBody,
  testFileStorage,
} from './storage.test-support.ts'
import { FileMissing, StorageError } from './storage.ts'

/** What processes of the tests import. */
const DISK_STORAGE = new URL('disk-storage.ts', import.meta.url).href
const RUNTIME = new URL('../../base/runtime.ts', import.meta.url).href

// A process, because one must be killed in the middle of a file, and another one mounts a disk that fails.

let folder: string
let storage: DiskStorage

async function openIn(path: string): Promise<DiskStorage> {
  const publicUrl = () => 'https://Gateway.Example:443/base/'
  const opened = createDiskStorage({ folder: path, publicUrl, runtime: systemRuntime })
  await opened.prepare()
  return opened
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trunkline-files-'))
  storage = await openIn(folder)
})
afterEach(() => rm(folder, { recursive: true }))

describe('files on a local disk', () => {
  testFileStorage(() => storage)

  test('the URL is below PUBLIC_URL, and other spellings of its origin are the same', async () => {
    const file = newFile('a b.txt')
    const url = await storage.urlOf(file, FAR_FUTURE)
    expect(url).toBe(`https://Gateway.Example:443/base/files/${file.token}/a%20b.txt`)
    const same = new URL(`https://gateway.example/base/files/${file.token}/a%20b.txt`)
    expect(storage.addressOf(same)).toEqual({ token: file.token, name: 'a b.txt' })
    expect(storage.addressOf(new URL(same.href.replace('/base', '')))).toBeUndefined()
  })

  test('only this user may read them', async () => {
    const file = newFile()
    await storage.write(file, bodyOf(randomContent(10)), never)
    const path = storage.pathOf(file)
    expect(path).toBe(join(folder, shardOf(file.token), file.token))
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    for (const each of [join(path, '..'), join(folder, 'unfinished')]) {
      expect((await stat(each)).mode & 0o777).toBe(0o700)
    }
  })

  test('a token from outside cannot lead out of the folder', async () => {
    const address = { token: '../../../etc/passwd', name: 'passwd' }
    expect(() => storage.pathOf(address)).toThrow(FileMissing)
    await expect(storage.read(address)).rejects.toThrow(FileMissing)
    await storage.remove([address])
  })

  test('a file that is being written is not visible', async () => {
    const { body, waiting } = stallingBody(randomContent(3 * MIB))
    const abort = new AbortController()
    const file = newFile()
    const written = storage.write(file, body, abort.signal)
    await waiting
    expect(await listed(storage)).toEqual([])
    await expect(storage.read(file)).rejects.toThrow(FileMissing)
    expect(await readdir(join(folder, 'unfinished'))).toHaveLength(1)
    abort.abort()
    await expect(written).rejects.toThrow()
  })

  test('a listing skips what is not ours', async () => {
    await mkdir(join(folder, 'ab'))
    await writeFile(join(folder, 'ab', 'notes.txt'), '')
    await writeFile(join(folder, 'cd'), '')
    expect(await listed(storage)).toEqual([])
  })

  test('a killed process leaves an unfinished file, which is removed once it is old enough', async () => {
    const child = spawn(
      process.execPath,
      [
        '--input-type=module',
        '--eval',
        `
        const { createDiskStorage } = await import('${DISK_STORAGE}')
        const { systemRuntime } = await import('${RUNTIME}')
        const storage = createDiskStorage({ folder: process.argv[1], publicUrl: () => 'http://x', runtime: systemRuntime })
        await storage.prepare()
        async function* body() {
          yield Buffer.alloc(1_000_000)
          console.log('written')
          await new Promise((resolve) => setTimeout(resolve, 2 ** 30))
        }
        const file = { token: 'A'.repeat(43), name: 'a', mediaType: 'text/plain', isAttachment: true }
        await storage.write(file, body(), new AbortController().signal)
        `,
        folder,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    await once(createInterface(child.stdout), 'line')
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
    const [name = ''] = await readdir(join(folder, 'unfinished'))
    expect(await listed(storage)).toEqual([])
    const modifiedAt = new Date('2026-01-01')
    await utimes(join(folder, 'unfinished', name), modifiedAt, modifiedAt)
    expect(await storage.removeUnfinished(modifiedAt)).toBe(0)
    expect(await storage.removeUnfinished(new Date(modifiedAt.getTime() + 1))).toBe(1)
    expect(await readdir(join(folder, 'unfinished'))).toEqual([])
  })
})

describe('a folder that cannot be used is reported with its name and the reason', () => {
  test('when it cannot be created', async () => {
    const file = join(folder, 'file')
    await writeFile(file, '')
    await expect(openIn(join(file, 'files'))).rejects.toThrow(
      `Files cannot be stored in ${join(file, 'files')}: its path leads through a file (EEXIST).`,
    )
    await expect(openIn('/proc/files')).rejects.toThrow(StorageError)
  })

  test('when it does not answer', async () => {
    const stalled = createDiskStorage({ folder, publicUrl: () => '', runtime: systemRuntime, stalledMs: 50 })
    const file = newFile()
    const path = stalled.pathOf(file)
    await mkdir(dirname(path), { recursive: true })
    // To open it waits for a writer, as a disk of another machine waits for its network.
    execFileSync('mkfifo', [path])
    await expect(stalled.read(file)).rejects.toThrow(`The disk of ${folder} does not answer in time.`)
    closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK))
    await expect(stalled.remove([file], AbortSignal.abort())).rejects.toThrow(StorageError)
  })

  test('without the path of a file, whose token is a secret', async () => {
    const file = newFile()
    await mkdir(storage.pathOf(file), { recursive: true })
    const error = await storage.write(file, bodyOf(randomContent(1)), never).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(StorageError)
    expect(inspect(error)).toContain('The call rename failed with EISDIR.')
    expect(inspect(error)).not.toContain(file.token)
  })

  test('when it disappears', async () => {
    const path = join(folder, 'files')
    const other = await openIn(path)
    await rm(path, { recursive: true })
    const message = `Files cannot be stored in ${path}: the folder does not exist (ENOENT).`
    await expect(other.ping()).rejects.toThrow(message)
    await expect(other.check()).rejects.toThrow(message)
    await expect(other.write(newFile(), bodyOf(randomContent(1)), never)).rejects.toThrow(message)
    await expect(other.read(newFile())).rejects.toThrow(FileMissing)
  })

  // A user of a machine may mount only where the kernel lets it have namespaces of its own.
  const canMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0

  test.skipIf(!canMount)('when it is full or read-only, and nothing is left of the write', async () => {
    const program = `
      import { readdir } from 'node:fs/promises'
      import { execFileSync } from 'node:child_process'
      const folder = process.argv[1]
      const { createDiskStorage } = await import('${DISK_STORAGE}')
      const { systemRuntime } = await import('${RUNTIME}')
      const storage = createDiskStorage({ folder, publicUrl: () => 'http://x', runtime: systemRuntime })
        await storage.prepare()
      const file = { token: 'A'.repeat(43), name: 'a', mediaType: 'text/plain', isAttachment: true }
      async function* body() {
        for (let count = 0; count < 40; count += 1) yield Buffer.alloc(65_536)
      }
      const write = () => storage.write(file, body(), new AbortController().signal).catch((error) => console.log(error.name, error.message))
      await write()
      console.log(await readdir(folder + '/unfinished'))
      execFileSync('mount', ['-o', 'remount,ro', folder])
      await write()
      await storage.ping().catch((error) => console.log(error.message))
    `
    const child = spawnSync(
      'unshare',
      [
        ...[
          '-rm',
          'sh',
          '-c',
          'mount -t tmpfs -o size=1m none "$3" && exec "$0" --input-type=module --eval "$2" "$3"',
        ],
        ...[process.execPath, '', program, folder],
      ],
      { encoding: 'utf8' },
    )
    expect(child.stderr).toBe('')
    expect(child.stdout.trim().split('\n')).toEqual([
      `StorageError Files cannot be stored in ${folder}: the disk is full (ENOSPC).`,
      '[]',
      `StorageError Files cannot be stored in ${folder}: the file system is read-only (EROFS).`,
      `Files cannot be stored in ${folder}: the file system is read-only (EROFS).`,
    ])
  })
})
