import { spawnSync } from 'node:child_process'
import { DeleteBucketCommand } from '@aws-sdk/client-s3'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { systemRuntime } from '#core/base/runtime.ts'
import { startForwarder } from './s3-forwarder.test-support.ts'
import { createS3Storage, type S3StorageOptions } from './s3-storage.ts'
import {
  createScratchBucket,
  LISTING,
  type ScratchBucket,
  s3TestServer,
} from './scratch-bucket.test-support.ts'
import {
  bodyOf,
  inAnHour,
  listed,
  MIB,
  NAMES,
  never,
  newFile,
  randomContent,
  testFileStorage,
} from './storage.test-support.ts'
import { FileMissing, type FileStorage, StorageError } from './storage.ts'

// A process, because what the client of S3 warns of is printed to the standard error of one.

const server = s3TestServer()

describe.skipIf(server === undefined)('files in a bucket of S3', () => {
  let bucket: ScratchBucket
  let storage: FileStorage
  const opened: FileStorage[] = []

  beforeAll(async () => {
    if (server === undefined) return
    bucket = await createScratchBucket(server)
    storage = await open()
  })
  afterEach(() => {
    for (const each of opened.splice(1)) each.close()
  })
  afterAll(async () => {
    storage?.close()
    await bucket?.drop()
  })

  async function open(changes: Partial<S3StorageOptions> = {}): Promise<FileStorage> {
    const created = await createS3Storage({ ...bucket.settings, runtime: systemRuntime, ...changes })
    opened.push(created)
    return created
  }

  testFileStorage(() => storage)

  const signedLife = (url: string) => {
    const { searchParams } = new URL(url)
    const at = searchParams.get('X-Amz-Date') ?? ''
    const seconds = Number(searchParams.get('X-Amz-Expires'))
    const began = Date.parse(at.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'))
    return { seconds, endsAt: new Date(began + seconds * 1_000) }
  }

  test('a pre-signed URL serves the file with the headers that were decided for it', async () => {
    const file = newFile('Größe "2".pdf')
    await storage.write(file, bodyOf([Buffer.from('text')]), never)
    const reply = await fetch(await storage.urlOf(file, inAnHour()))
    expect(await reply.text()).toBe('text')
    expect(reply.headers.get('content-type')).toBe('application/pdf')
    expect(reply.headers.get('content-disposition')).toBe(
      `attachment; filename="Gr??e \\"2\\".pdf"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%222%22.pdf`,
    )
    expect(reply.headers.get('cache-control')).toBe('private, no-cache')
    await storage.remove([file])
    expect((await fetch(await storage.urlOf(file, inAnHour()))).status).toBe(404)
  })

  test('a pre-signed URL ends when it must, after 7 days, and with temporary credentials', async () => {
    const file = newFile()
    const expiresAt = inAnHour()
    const { endsAt } = signedLife(await storage.urlOf(file, expiresAt))
    expect(endsAt.getTime()).toBeLessThanOrEqual(expiresAt.getTime())
    expect(endsAt.getTime()).toBeGreaterThan(expiresAt.getTime() - 3_000)

    const week = 7 * 24 * 3_600
    expect(storage.urlLifeSecondsMax).toBe(week)
    const inAMonth = new Date(Date.now() + 30 * 24 * 3_600_000)
    expect(signedLife(await storage.urlOf(file, inAMonth)).seconds).toBe(week)

    const expiration = new Date(Date.now() + 600_000)
    const temporary = await open({
      credentials: async () => ({ accessKeyId: 'a', secretAccessKey: 'b', expiration }),
    })
    const ends = signedLife(await temporary.urlOf(file, expiresAt)).endsAt
    expect(ends.getTime()).toBeLessThanOrEqual(expiration.getTime())
    expect(ends.getTime()).toBeGreaterThan(expiration.getTime() - 3_000)

    await storage.write(file, bodyOf([Buffer.from('text')]), never)
    expect((await fetch(await storage.urlOf(file, new Date(Date.now() - 60_000)))).status).toBe(403)
    await storage.remove([file])
  })

  test('a public URL works where the bucket can be read by everybody, and the check says where it cannot', async () => {
    const { endpoint, bucket: name } = bucket.settings
    const publicUrl = `${endpoint}/${name}/`
    const open_ = await open({ publicUrl })
    expect(open_.urlLifeSecondsMax).toBe(Number.POSITIVE_INFINITY)
    await expect(open_.check()).rejects.toThrow(
      `S3_PUBLIC_URL: the URL of a file at ${endpoint} answers 403. Everybody must be allowed to read uploads/* there.`,
    )
    await bucket.setPolicy({ effect: 'Allow', actions: ['s3:GetObject'] })
    expect(await open_.check()).toEqual([])
    for (const each of NAMES) {
      const file = newFile(each)
      await open_.write(file, bodyOf([Buffer.from(each)]), never)
      const url = await open_.urlOf(file, inAnHour())
      expect(url).toBe(`${endpoint}/${name}/uploads/${file.token}/${encodeURIComponent(each)}`)
      expect(await (await fetch(url)).text()).toBe(each)
      await open_.remove([file])
    }
    expect(await bucket.leftovers()).toEqual([])
  })

  test('URLs of every form that was ever issued are recognised: public, in path style, and with the bucket as host', async () => {
    const file = newFile('a b.txt')
    const address = { token: file.token, name: file.name }
    const { bucket: name } = bucket.settings
    const public_ = await open({
      publicUrl: 'https://cdn.example/files',
      endpoint: 'https://s3.example:8443/base',
    })
    const { token } = file
    for (const url of [
      `https://cdn.example/files/uploads/${token}/a%20b.txt`,
      `https://CDN.example:443/files/uploads/${token}/a%20b.txt?x=1`,
      `https://s3.example:8443/base/${name}/uploads/${token}/a%20b.txt`,
      `https://${name}.s3.example:8443/base/uploads/${token}/a%20b.txt?X-Amz-Signature=0`,
    ]) {
      expect(public_.addressOf(new URL(url)), url).toEqual(address)
    }
    for (const url of [
      `https://cdn.example/uploads/${token}/a%20b.txt`,
      `https://s3.example:8443/base/other/uploads/${token}/a%20b.txt`,
      `https://other.s3.example:8443/base/uploads/${token}/a%20b.txt`,
      `https://s3.example/base/${name}/uploads/${token}/a%20b.txt`,
    ]) {
      expect(public_.addressOf(new URL(url)), url).toBeUndefined()
    }
    const aws = await createS3Storage({ bucket: 'files', region: 'eu-west-1', runtime: systemRuntime })
    for (const url of [
      `https://files.s3.eu-west-1.amazonaws.com/uploads/${token}/a%20b.txt`,
      `https://s3.eu-west-1.amazonaws.com/files/uploads/${token}/a%20b.txt`,
    ]) {
      expect(aws.addressOf(new URL(url)), url).toEqual(address)
    }
    aws.close()
    const ownHost = await open({ bucket: 'files', endpoint: 'https://files.s3.example' })
    expect(await ownHost.urlOf(file, inAnHour())).toMatch(/^https:\/\/files\.s3\.example\/uploads\//)
  })

  describe('when the signal aborts while the last request runs, nothing is left', () => {
    test.each([
      ['of a small file', 1_000, /^PUT .*\/uploads\//],
      ['of a part', 6 * MIB, /^PUT .*partNumber=2/],
      ['that creates an upload', 6 * MIB, /^POST .*\?uploads/],
      ['that completes an upload', 6 * MIB, /^POST .*\?uploadId=/],
    ])('%s', async (_, bytes, pattern) => {
      const abort = new AbortController()
      const reason = new Error('the time is up')
      const forwarder = await startForwarder(bucket.settings.endpoint, ({ method, url }) => {
        if (pattern.test(`${method} ${url}`)) abort.abort(reason)
      })
      const slow = await open({ endpoint: forwarder.url })
      await expect(slow.write(newFile(), bodyOf(randomContent(bytes)), abort.signal)).rejects.toBe(reason)
      await forwarder.close()
      expect(await bucket.leftovers()).toEqual([])
    })
  })

  describe('errors name the setting or the cause', () => {
    /** The messages of everything that can fail, without duplicates. */
    const failures = async (broken: FileStorage) => {
      const file = newFile()
      const results = await Promise.allSettled([
        broken.write(file, bodyOf(randomContent(1)), never),
        broken.write(file, bodyOf(randomContent(6 * MIB)), never),
        broken.read(file),
        broken.remove([file]),
        broken.ping(),
        broken.check(),
        broken.removeUnfinished(new Date()),
        listed(broken),
      ])
      const errors = results.map((result) => (result.status === 'rejected' ? result.reason : undefined))
      for (const error of errors) expect(error).toBeInstanceOf(StorageError)
      return [...new Set(errors.map(({ message }) => message))]
    }
    const host = () => new URL(bucket.settings.endpoint).host
    const { accessKeyId = '', secretAccessKey = '' } = server?.credentials ?? {}

    test('a wrong secret', async () => {
      const broken = await open({ credentials: { accessKeyId, secretAccessKey: 'wrong' } })
      const message = 'AWS_SECRET_ACCESS_KEY: the secret does not belong to the access key.'
      expect(await failures(broken)).toEqual([
        `${message} S3 at ${host()} answers 403 SignatureDoesNotMatch.`,
      ])
    })

    test('an unknown key', async () => {
      const broken = await open({ credentials: { accessKeyId: 'nobody', secretAccessKey } })
      expect((await failures(broken))[0]).toBe(
        `AWS_ACCESS_KEY_ID: S3 does not know this key. S3 at ${host()} answers 403 InvalidAccessKeyId.`,
      )
    })

    test('no credentials', async () => {
      const broken = await open({
        credentials: async () => {
          throw Object.assign(new Error('none'), { name: 'CredentialsProviderError' })
        },
      })
      expect((await failures(broken)).join()).toMatch(
        /^AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: no credentials/,
      )
    })

    test('a bucket that is gone', async () => {
      if (server === undefined) return
      const gone = await createScratchBucket(server)
      const broken = await open(gone.settings)
      await broken.ping()
      await gone.client.send(new DeleteBucketCommand({ Bucket: gone.settings.bucket }))
      expect(await failures(broken)).toEqual([
        `S3_BUCKET: there is no bucket ${gone.settings.bucket} at ${host()}.`,
      ])
      await gone.drop()
    })

    test('a server that cannot be reached', async () => {
      const broken = await open({ endpoint: 'http://127.0.0.1:1' })
      expect(await failures(broken)).toEqual(['S3 at 127.0.0.1:1 cannot be reached (ECONNREFUSED).'])
    })

    test('a URL that cannot be reached', async () => {
      const broken = await open({ publicUrl: 'http://127.0.0.1:2/x' })
      await expect(broken.check()).rejects.toThrow(
        'S3_PUBLIC_URL: the URL of a file at http://127.0.0.1:2 cannot be reached (ECONNREFUSED).',
      )
    })
  })

  test('the check advises on temporary credentials', async () => {
    const expiration = new Date(Date.now() + 3_600_000)
    const temporary = await open({
      credentials: async () => ({ accessKeyId: '', secretAccessKey: '', ...server?.credentials, expiration }),
    })
    expect(await temporary.check()).toEqual([expect.stringContaining('end with them. Set S3_PUBLIC_URL')])
  })

  test('credentials that may not list can store files, and the check advises on what is never removed', async () => {
    await bucket.setPolicy({ effect: 'Deny', actions: LISTING })
    try {
      await storage.ping()
      expect(await storage.check()).toEqual([
        'The credentials lack s3:ListBucket, so files without a record are never removed.',
        'The credentials lack s3:ListBucketMultipartUploads, so parts of interrupted uploads are never removed.',
      ])
      await expect(listed(storage)).rejects.toThrow('S3_BUCKET: the credentials do not permit this request')
      await expect(storage.read(newFile())).rejects.toThrow(StorageError)
    } finally {
      await bucket.setPolicy()
    }
  })

  test('a file that is missing is not an error of the storage', async () => {
    await expect(storage.read(newFile())).rejects.toThrow(FileMissing)
  })

  test('checksums beyond the signature can be switched off by the SDK’s own variable', async () => {
    vi.stubEnv('AWS_REQUEST_CHECKSUM_CALCULATION', 'WHEN_REQUIRED')
    const plain = await open()
    const file = newFile()
    await plain.write(file, bodyOf(randomContent(6 * MIB)), never)
    await plain.remove([file])
    vi.unstubAllEnvs()
  })

  test('a process that stores files prints nothing', () => {
    const program = `
      const { createS3Storage } = await import('${new URL('s3-storage.ts', import.meta.url).href}')
      const { systemRuntime } = await import('${new URL('../../base/runtime.ts', import.meta.url).href}')
      const storage = await createS3Storage({ ...JSON.parse(process.argv[1]), runtime: systemRuntime })
      await storage.check()
      async function* body() {
        for (let count = 0; count < 6; count += 1) yield Buffer.alloc(1_000_000)
      }
      const files = Array.from({ length: 60 }, (_, index) => (
        { token: String(index).padStart(43, 'A'), name: 'a', mediaType: 'text/plain', isAttachment: true }
      ))
      await Promise.all(files.map((file) => storage.write(file, body(), new AbortController().signal)))
      for (const file of files.slice(0, 3)) await (await storage.read(file)).toArray()
      await storage.remove(files)
      storage.close()
      console.log('done')
    `
    const child = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', program, JSON.stringify(bucket.settings)],
      { encoding: 'utf8' },
    )
    expect(child.stderr).toBe('')
    expect(child.stdout).toBe('done\n')
  })

  test('after all of this nothing is left in the bucket', async () => {
    expect(await bucket.leftovers()).toEqual([])
  })
})
