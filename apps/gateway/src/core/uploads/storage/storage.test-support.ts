import { createHash, randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { systemRuntime } from '#core/base/runtime.ts'
import { newToken } from './file-address.ts'
import { type FileAddress, FileMissing, type FileStorage, type NewFile } from './storage.ts'

/** What the tokens of the files of these tests begin with. */
export const INSTALLATION = 'testing_'

export const KIB = 1024
export const MIB = 1024 * KIB

export const FAR_FUTURE = new Date('2100-01-01')
export const inAnHour = () => new Date(Date.now() + 3_600_000)

export const never = new AbortController().signal

export function newFile(name = 'report.pdf'): NewFile {
  return {
    token: newToken(systemRuntime, INSTALLATION),
    name,
    mediaType: 'application/pdf',
    isAttachment: true,
  }
}

/** `bytes` random bytes in chunks of a size that divides neither parts nor pages. */
export function randomContent(bytes: number): Buffer[] {
  const content = randomBytes(bytes)
  const chunks: Buffer[] = []
  for (let start = 0; start < bytes; start += 65_521) chunks.push(content.subarray(start, start + 65_521))
  return chunks
}

export async function* bodyOf(chunks: readonly Uint8Array[], error?: unknown): AsyncGenerator<Uint8Array> {
  yield* chunks
  if (error !== undefined) throw error
}

/** Yields the chunks and then waits forever; `waiting` resolves when it does. */
export function stallingBody(chunks: readonly Uint8Array[]): {
  readonly body: AsyncGenerator<Uint8Array>
  readonly waiting: Promise<void>
} {
  const { promise: waiting, resolve } = Promise.withResolvers<void>()
  async function* body() {
    yield* chunks
    resolve()
    await new Promise(() => undefined)
  }
  return { body: body(), waiting }
}

export async function read(storage: FileStorage, address: FileAddress): Promise<string> {
  return sha256(await (await storage.read(address)).toArray())
}

export function sha256(chunks: readonly Uint8Array[]): string {
  const hash = createHash('sha256')
  for (const chunk of chunks) hash.update(chunk)
  return hash.digest('hex')
}

export async function listed(storage: FileStorage): Promise<string[]> {
  const tokens: string[] = []
  for await (const batch of storage.list(INSTALLATION)) {
    expect(batch.length).toBeLessThanOrEqual(1_000)
    tokens.push(...batch.map(({ address }) => address.token))
  }
  return tokens
}

/** Of the largest size that file systems and S3 take, and with every character that URLs, headers or XML write differently. */
export const NAMES = [
  'plain.txt',
  `it's "quoted" & <tagged>; 100%, a+b=c?.txt`,
  '%41 %2F %zz.txt',
  'Größe naïve 年度报告 📄.pdf',
  `${'界'.repeat(83)}ab.txt`,
  ' leading and trailing ',
]

/** What both storages guarantee. `storage` is read when a test runs, and contains nothing but what these tests write. */
export function testFileStorage(current: () => FileStorage): void {
  const expectNothing = async () => {
    expect(await listed(current())).toEqual([])
    expect(await current().removeUnfinished(FAR_FUTURE)).toBe(0)
  }

  test.each([0, 1, 5 * MIB, 5 * MIB + 1, 12 * MIB])(
    'a file of %i bytes is read as it was written',
    async (bytes) => {
      const [file, chunks] = [newFile(), randomContent(bytes)]
      await current().write(file, bodyOf(chunks), never)
      expect(await read(current(), file)).toBe(sha256(chunks))
      await current().remove([file])
      await expect(current().read(file)).rejects.toThrow(FileMissing)
      await expectNothing()
    },
  )

  test.each(NAMES)('the name %j survives the URL, and the file is found by both', async (name) => {
    const file = newFile(name)
    await current().write(file, bodyOf([Buffer.from(name)]), never)
    const url = await current().urlOf(file, inAnHour())
    const address = current().addressOf(new URL(url))
    expect(address).toEqual({ token: file.token, name })
    expect(await read(current(), address ?? file)).toBe(sha256([Buffer.from(name)]))
    for await (const batch of current().list(INSTALLATION))
      await current().remove(batch.map(({ address }) => address))
    await expectNothing()
  })

  test('a listing has all files of an installation in order, with the times of their writing', async () => {
    // The machine's clock, which is also that of the storage: `pnpm test:flakes` moves only that of `Date`.
    const machineNow = () => performance.timeOrigin + performance.now()
    const since = machineNow() - 5_000
    const files = Array.from({ length: 20 }, () => newFile())
    const contents = files.map(() => randomContent(100 * KIB))
    await Promise.all(files.map((file, index) => current().write(file, bodyOf(contents[index] ?? []), never)))
    // In the order of their tokens, and without the files of another installation.
    const foreign = { ...newFile(), token: newToken(systemRuntime, 'another_') }
    await current().write(foreign, bodyOf(randomContent(1)), never)
    expect(await listed(current())).toEqual(files.map(({ token }) => token).sort())
    await current().remove([foreign])
    for await (const batch of current().list(INSTALLATION)) {
      for (const { modifiedAt } of batch) {
        expect(modifiedAt.getTime()).toBeGreaterThan(since)
        expect(modifiedAt.getTime()).toBeLessThan(machineNow() + 5_000)
      }
    }
    for (const [index, file] of files.entries()) {
      expect(await read(current(), file)).toBe(sha256(contents[index] ?? []))
    }
    await current().remove(files)
    await expectNothing()
  })

  test('files that do not exist count as removed, however many there are', async () => {
    const file = newFile()
    await current().write(file, bodyOf(randomContent(1)), never)
    await current().remove([...Array.from({ length: 1_500 }, () => newFile()), file])
    await current().remove([])
    await expectNothing()
  })

  describe.each([
    ['before its first byte', 0],
    ['in a small file', 1 * MIB],
    ['in its second part', 8 * MIB],
    ['exactly at a part', 10 * MIB],
  ])('a body that fails %s leaves nothing', (_, bytes) => {
    test('when it throws: the error comes back unchanged', async () => {
      const error = new Error('the client has left')
      const written = current().write(newFile(), bodyOf(randomContent(bytes), error), never)
      await expect(written).rejects.toBe(error)
      await expectNothing()
    })

    test('when it stalls and the signal aborts: the reason comes back unchanged', async () => {
      const { body, waiting } = stallingBody(randomContent(bytes))
      const abort = new AbortController()
      const written = current().write(newFile(), body, abort.signal)
      await waiting
      const reason = new Error('the time is up')
      abort.abort(reason)
      await expect(written).rejects.toBe(reason)
      await expectNothing()
    })
  })

  test('a signal that has aborted before keeps the body from being read', async () => {
    const reason = new Error('too late')
    const body = bodyOf([Buffer.from('x')])
    await expect(current().write(newFile(), body, AbortSignal.abort(reason))).rejects.toBe(reason)
    await expectNothing()
  })

  test('a failed body is closed, so that it can release its source', async () => {
    const abort = new AbortController()
    let isClosed = false
    async function* body() {
      try {
        for (;;) {
          yield Buffer.alloc(64 * KIB)
          abort.abort(new Error('enough'))
        }
      } finally {
        isClosed = true
      }
    }
    await expect(current().write(newFile(), body(), abort.signal)).rejects.toThrow('enough')
    await expect.poll(() => isClosed).toBe(true)
    await expectNothing()
  })

  test('a check writes, reads and removes a file and has no advice', async () => {
    expect(await current().check()).toEqual([])
    await current().ping()
    await expectNothing()
  })

  test('URLs that it has not issued have no address', async () => {
    const file = newFile('a.txt')
    const url = new URL(await current().urlOf(file, inAnHour()))
    const changed = (change: (url: URL) => void) => {
      const copy = new URL(url)
      change(copy)
      return current().addressOf(copy)
    }
    const same = { token: file.token, name: 'a.txt' }
    expect(changed((other) => (other.search = '?x=1'))).toEqual(same)
    expect(changed((other) => (other.hash = '#page=2'))).toEqual(same)
    expect(current().addressOf(new URL(url.href.replace('a.txt', '%61%2Etxt')))).toEqual(same)
    expect(current().addressOf(new URL(url.href.replace(url.protocol, url.protocol.toUpperCase())))).toEqual(
      same,
    )
    expect(changed((other) => (other.port = '1'))).toBeUndefined()
    expect(changed((other) => (other.hostname = 'other.example'))).toBeUndefined()
    expect(changed((other) => (other.protocol = 'ftp:'))).toBeUndefined()
    for (const [from, to] of [
      [file.token, file.token.slice(1)],
      [file.token, `${file.token}A`],
      [file.token, `${file.token.slice(1)}.`],
      [`/${file.token}`, `/more/${file.token}`],
      [`/${file.token}`, `/../${file.token}`],
      ['a.txt', ''],
      ['a.txt', 'a%ff.txt'],
      ['a.txt', 'a%zz.txt'],
      ['a.txt', 'a.txt/b'],
    ] as const) {
      expect(current().addressOf(new URL(url.href.replace(from, to))), to).toBeUndefined()
    }
  })
}
