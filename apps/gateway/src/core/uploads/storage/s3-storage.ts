import { Readable } from 'node:stream'
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3'
import type { Runtime } from '#core/base/runtime.ts'
import { errorCode } from '#core/base/values/error-code.ts'
import { checkWithFile } from './check-with-file.ts'
import { isToken, urlUnder } from './file-address.ts'
import { S3_LIMITS, type S3Limits, type S3Settings, s3ClientConfig } from './s3-client.ts'
import { isDenied, isNamed, s3Error, s3ErrorOfCode } from './s3-errors.ts'
import { abortUpload, type S3Bucket, unfinishedUploads, uploadToS3 } from './s3-upload.ts'
import {
  addressUnderAny,
  KEY_PREFIX,
  keyOf,
  publicBaseOf,
  SIGNED_URL_LIFE_SECONDS_MAX,
  signedUrl,
  signedUrlBases,
} from './s3-urls.ts'
import { type FileAddress, FileMissing, type FileStorage, StorageError, type StoredFile } from './storage.ts'
import { translatedStream } from './translated-stream.ts'

export interface S3StorageOptions extends S3Settings {
  /** Where the bucket's files can be read without a signature, for example a CDN. By default URLs are pre-signed. */
  readonly publicUrl?: string | undefined
  readonly runtime: Pick<Runtime, 'now' | 'randomBytes'>
  readonly limits?: Partial<S3Limits>
  /** Reads the URL of the file that `check` writes. */
  readonly fetch?: typeof globalThis.fetch
}

/**
 * Stores files in a bucket of S3, under the keys `uploads/<token>/<name>`.
 *
 * @throws StorageError if there is no region
 */
export async function createS3Storage(options: S3StorageOptions): Promise<FileStorage> {
  const { bucket: name, publicUrl, runtime, fetch = globalThis.fetch } = options
  const limits = { ...S3_LIMITS, ...options.limits }
  const config = await s3ClientConfig(options, limits)
  const signedBases = await signedUrlBases(config, name)
  const publicBase = publicUrl === undefined ? undefined : publicBaseOf(publicUrl)
  // URLs that were issued before S3_PUBLIC_URL was set still lead to files.
  const bases = publicBase === undefined ? signedBases : [publicBase, ...signedBases]
  const client = new S3Client(config)
  const bucket: S3Bucket = {
    client,
    bucket: name,
    host: new URL(signedBases[0] ?? '').host,
    cleanUpMs: limits.cleanUpMs,
  }
  const guard: Guard = (work) =>
    work.catch((error: unknown) => {
      throw s3Error(error, bucket)
    })

  const storage: FileStorage = {
    kind: 's3',
    urlLifeSecondsMax: publicBase === undefined ? SIGNED_URL_LIFE_SECONDS_MAX : Number.POSITIVE_INFINITY,
    write: (file, body, signal) => uploadToS3(bucket, file, body, signal),
    read: (address) => readObject(bucket, address, limits.stalledMs),
    async remove(addresses, inTime = AbortSignal.timeout(limits.stalledMs)) {
      for (let start = 0; start < addresses.length; start += KEYS_PER_REQUEST) {
        await guard(removeObjects(bucket, addresses.slice(start, start + KEYS_PER_REQUEST), inTime))
      }
    },
    urlOf: (address, expiresAt) =>
      publicBase === undefined
        ? guard(signedUrl(client, name, address, { now: runtime.now(), expiresAt }))
        : Promise.resolve(urlUnder(publicBase, address)),
    addressOf: (url) => addressUnderAny(bases, url),
    prepare: () => Promise.resolve(),
    list: (tokenPrefix) => translated(listObjects(bucket, tokenPrefix), bucket),
    removeUnfinished: (before) => guard(removeUnfinished(bucket, before)),
    ping: async () => {
      await guard(readNothing(bucket, AbortSignal.timeout(limits.pingMs)))
    },
    async check() {
      await checkWithFile(storage, runtime, async (address) => {
        const url = await storage.urlOf(address, new Date(runtime.now().getTime() + CHECK_MS))
        return await readUrl(url, publicBase === undefined ? 'S3_ENDPOINT' : 'S3_PUBLIC_URL', fetch)
      })
      return await guard(adviceFor(bucket, publicBase !== undefined))
    },
    close: () => client.destroy(),
  }
  return storage
}

type Guard = <Result>(work: Promise<Result>) => Promise<Result>

const KEYS_PER_REQUEST = 1_000
const CHECK_MS = 60_000

async function readObject(bucket: S3Bucket, address: FileAddress, stalledMs: number): Promise<Readable> {
  const abort = new AbortController()
  const timer = setTimeout(() => abort.abort(), stalledMs)
  try {
    const command = new GetObjectCommand({ Bucket: bucket.bucket, Key: keyOf(address) })
    const { Body: body } = await bucket.client.send(command, { abortSignal: abort.signal })
    if (!(body instanceof Readable)) throw new StorageError(`S3 at ${bucket.host} answers without a body.`)
    return translatedStream(body, (error) => s3Error(error, bucket))
  } catch (error) {
    throw isNamed(error, 'NoSuchKey') ? new FileMissing(address) : s3Error(error, bucket)
  } finally {
    // The content that follows has its own limit, for each pause.
    clearTimeout(timer)
  }
}

/**
 * Asks for a file that does not exist. A request for the bucket itself would fail with credentials that may not list it, which
 * uploads do not need; S3 then answers that access is denied. That reply to a GET request, unlike to HEAD, names wrong credentials.
 */
async function readNothing({ client, bucket }: S3Bucket, abortSignal: AbortSignal): Promise<void> {
  try {
    await client.send(new GetObjectCommand({ Bucket: bucket, Key: `${KEY_PREFIX}--ping` }), { abortSignal })
  } catch (error) {
    if (!isNamed(error, 'NoSuchKey', 'AccessDenied')) throw error
  }
}

/** Passes everything on, and translates an error. */
async function* translated<Item>(items: AsyncIterable<Item>, bucket: S3Bucket): AsyncGenerator<Item> {
  try {
    yield* items
  } catch (error) {
    throw s3Error(error, bucket)
  }
}

async function removeObjects(
  bucket: S3Bucket,
  addresses: readonly FileAddress[],
  abortSignal: AbortSignal,
): Promise<void> {
  const keys = addresses.map((address) => ({ Key: keyOf(address) }))
  const command = new DeleteObjectsCommand({
    Bucket: bucket.bucket,
    Delete: { Objects: keys, Quiet: true },
    // This request needs a checksum. Many servers, such as MinIO before 2025, take no other.
    ChecksumAlgorithm: 'MD5',
  })
  const { Errors: errors } = await bucket.client.send(command, { abortSignal })
  const failed = errors?.find(({ Code }) => Code !== 'NoSuchKey')
  if (failed !== undefined) throw s3ErrorOfCode(failed.Code ?? 'an error', bucket)
}

async function* listObjects(
  { client, bucket }: S3Bucket,
  tokenPrefix: string,
): AsyncGenerator<readonly StoredFile[]> {
  for await (const { Contents: contents = [] } of paginateListObjectsV2(
    { client, pageSize: 1_000 },
    { Bucket: bucket, Prefix: `${KEY_PREFIX}${tokenPrefix}` },
  )) {
    yield contents.flatMap(({ Key: key = '', LastModified: modifiedAt }) => {
      const [, token = '', name] = key.split('/')
      const isOurs = isToken(token) && name !== undefined && key === keyOf({ token, name })
      return isOurs && modifiedAt !== undefined ? [{ address: { token, name }, modifiedAt }] : []
    })
  }
}

async function removeUnfinished(bucket: S3Bucket, before: Date): Promise<number> {
  let count = 0
  for await (const upload of unfinishedUploads(bucket, KEY_PREFIX)) {
    if (upload.Initiated === undefined || upload.Initiated >= before) continue
    await abortUpload(bucket, upload)
    count += 1
  }
  return count
}

/** Reads a URL as the platforms do, without credentials. */
async function readUrl(url: string, setting: string, fetch: typeof globalThis.fetch): Promise<Uint8Array> {
  const { origin } = new URL(url)
  const reply = await fetch(url, { signal: AbortSignal.timeout(CHECK_MS) }).catch((cause: unknown) => {
    const code = cause instanceof Error ? (errorCode(cause.cause) ?? cause.name) : ''
    throw new StorageError(`${setting}: the URL of a file at ${origin} cannot be reached (${code}).`, {
      cause,
    })
  })
  if (reply.ok) return new Uint8Array(await reply.arrayBuffer())
  await reply.body?.cancel()
  const hint = setting === 'S3_PUBLIC_URL' ? ' Everybody must be allowed to read uploads/* there.' : ''
  throw new StorageError(`${setting}: the URL of a file at ${origin} answers ${reply.status}.${hint}`)
}

async function adviceFor(bucket: S3Bucket, isPublic: boolean): Promise<string[]> {
  const { client, bucket: name } = bucket
  const { expiration } = await client.config.credentials()
  const listings = [
    {
      permission: 's3:ListBucket',
      leftovers: 'files without a record',
      try: () => client.send(new ListObjectsV2Command({ Bucket: name, Prefix: KEY_PREFIX, MaxKeys: 1 })),
    },
    {
      permission: 's3:ListBucketMultipartUploads',
      leftovers: 'parts of interrupted uploads',
      try: () =>
        client.send(new ListMultipartUploadsCommand({ Bucket: name, Prefix: KEY_PREFIX, MaxUploads: 1 })),
    },
  ]
  const advice: string[] = []
  if (expiration !== undefined && !isPublic) {
    advice.push(
      'The credentials for S3 are temporary, and the URLs of files end with them. Set S3_PUBLIC_URL for longer lives.',
    )
  }
  for (const { permission, leftovers, try: attempt } of listings) {
    const isAllowed = await attempt().then(
      () => true,
      (error: unknown) => {
        if (isDenied(error)) return false
        throw error
      },
    )
    if (!isAllowed) advice.push(`The credentials lack ${permission}, so ${leftovers} are never removed.`)
  }
  return advice
}
