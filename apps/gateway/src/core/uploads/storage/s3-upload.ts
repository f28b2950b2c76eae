import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  type MultipartUpload,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { create as contentDisposition } from 'content-disposition'
import { isConflict, isNamed, type S3Place, s3Error } from './s3-errors.ts'
import { keyOf } from './s3-urls.ts'
import { type NewFile, StorageError } from './storage.ts'
import { untilAborted } from './until-aborted.ts'

export interface S3Bucket extends S3Place {
  readonly client: S3Client
  readonly cleanUpMs: number
}

/**
 * Uploads a file in parts of 5 MiB, one after the other, and a smaller file in one request. The body is read while no part is being
 * sent, so one part is in memory. (The SDK's own `Upload` holds four times as much, and after an abort it neither ends the running
 * request nor waits for the removal of the parts.)
 */
export async function uploadToS3(
  bucket: S3Bucket,
  file: NewFile,
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const upload = startUpload(bucket, file, signal)
  try {
    for await (const { bytes, isLast } of partsOf(untilAborted(body, signal))) {
      await (isLast ? upload.finish(bytes) : upload.sendPart(bytes))
    }
    signal.throwIfAborted()
  } catch (error) {
    await upload.removeTraces()
    throw signal.aborted ? signal.reason : error
  }
}

/** All uploads below a prefix that have neither been completed nor aborted. */
export async function* unfinishedUploads(
  { client, bucket }: S3Bucket,
  prefix: string,
  abortSignal?: AbortSignal,
): AsyncGenerator<MultipartUpload> {
  let from: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } | undefined = {}
  while (from !== undefined) {
    const command: ListMultipartUploadsCommand = new ListMultipartUploadsCommand({
      Bucket: bucket,
      Prefix: prefix,
      ...from,
    })
    const page = await client.send(command, abortSignal && { abortSignal })
    yield* page.Uploads ?? []
    from = page.IsTruncated
      ? { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
      : undefined
  }
}

/** Removes the parts of an upload. One that no longer exists, or that another request is removing (409), counts as removed. */
export async function abortUpload(
  { client, bucket }: S3Bucket,
  { Key, UploadId }: MultipartUpload,
  abortSignal?: AbortSignal,
): Promise<void> {
  try {
    const command = new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId })
    await client.send(command, abortSignal && { abortSignal })
  } catch (error) {
    if (!isNamed(error, 'NoSuchUpload') && !isConflict(error)) throw error
  }
}

/** The least that S3 accepts. It takes 10,000 parts, which limits a file to 48 GiB. */
const PART_BYTES = 5 * 1024 * 1024

/**
 * Cuts a body into parts, each of which is valid until the next is read: they share one buffer, since the garbage of one for
 * each part would pile up faster than it is collected.
 */
async function* partsOf(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ readonly bytes: Uint8Array; readonly isLast: boolean }> {
  const buffer = Buffer.allocUnsafeSlow(PART_BYTES)
  let filled = 0
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.length; ) {
      if (filled === PART_BYTES) {
        yield { bytes: buffer, isLast: false }
        filled = 0
      }
      const piece = chunk.subarray(start, start + PART_BYTES - filled)
      buffer.set(piece, filled)
      filled += piece.length
      start += piece.length
    }
  }
  yield { bytes: buffer.subarray(0, filled), isLast: true }
}

function startUpload(bucket: S3Bucket, file: NewFile, signal: AbortSignal) {
  const { client } = bucket
  const object = { Bucket: bucket.bucket, Key: keyOf(file) }
  const parts: CompletedPart[] = []
  let uploadId: string | undefined
  let hasSent = false

  /**
   * What has stored something names it. A proxy or a page of another program that answers 200 to everything does not.
   *
   * @throws StorageError
   */
  function requireNamed(name: string | undefined, element: 'ETag' | 'UploadId'): string {
    if (name) return name
    throw new StorageError(
      `S3_ENDPOINT: ${bucket.host} answers 200 without an ${element}, so it has not stored the file; it is no S3, or something in front of it answers.`,
    )
  }

  /** Errors of the body must stay as they are, so those of S3 are translated where they arise. */
  async function guard<Result>(work: () => Promise<Result>): Promise<Result> {
    hasSent = true
    return await work().catch((error: unknown) => {
      throw s3Error(error, bucket)
    })
  }

  // The signal ends requests for parts. The requests that make something appear run to their end, because a cancelled one could
  // still take effect after the removal of what it has made.
  const begin = async () => {
    const isChecked = (await client.config.requestChecksumCalculation()) === 'WHEN_SUPPORTED'
    const command = new CreateMultipartUploadCommand({
      ...object,
      ...headersOf(file),
      // Must be the one that the SDK computes for each part.
      ...(isChecked && { ChecksumAlgorithm: 'CRC32' }),
    })
    uploadId = requireNamed((await client.send(command)).UploadId, 'UploadId')
  }
  const sendPart = async (bytes: Uint8Array) => {
    if (uploadId === undefined) await begin()
    const part = { PartNumber: parts.length + 1 }
    const command = new UploadPartCommand({ ...object, ...part, UploadId: uploadId, Body: bytes })
    const { ETag, ChecksumCRC32 } = await client.send(command, { abortSignal: signal })
    parts.push({ ...part, ETag: requireNamed(ETag, 'ETag'), ChecksumCRC32 })
  }
  const complete = async () => {
    const command = new CompleteMultipartUploadCommand({
      ...object,
      UploadId: uploadId,
      MultipartUpload: { Parts: parts },
    })
    requireNamed((await client.send(command)).ETag, 'ETag')
  }
  const put = async (bytes: Uint8Array) => {
    const command = new PutObjectCommand({ ...object, ...headersOf(file), Body: bytes })
    requireNamed((await client.send(command)).ETag, 'ETag')
  }

  return {
    sendPart: (bytes: Uint8Array) => guard(() => sendPart(bytes)),
    async finish(bytes: Uint8Array): Promise<void> {
      await guard(async () => {
        if (uploadId === undefined) return await put(bytes)
        await sendPart(bytes)
        return await complete()
      })
    },
    async removeTraces(): Promise<void> {
      if (hasSent) await removeTraces(bucket, object.Key, uploadId)
    },
  }
}

function headersOf(file: NewFile) {
  return {
    ContentType: file.mediaType,
    ContentDisposition: contentDisposition(file.name, { type: file.isAttachment ? 'attachment' : 'inline' }),
    // A cache that kept a file would serve it after its deletion.
    CacheControl: 'private, no-cache',
  }
}

/** Removes what a failed upload has written, as far as S3 can be reached; sweeps remove the rest. */
async function removeTraces(bucket: S3Bucket, key: string, uploadId: string | undefined): Promise<void> {
  const signal = AbortSignal.timeout(bucket.cleanUpMs)
  const removals = [
    async () => {
      if (uploadId !== undefined) await abortUpload(bucket, { Key: key, UploadId: uploadId }, signal)
    },
    // The reply with the id may have been lost, and a part that arrived during the removal may have survived it.
    async () => {
      for await (const found of unfinishedUploads(bucket, key, signal)) {
        if (found.Key === key) await abortUpload(bucket, found, signal)
      }
    },
    () =>
      bucket.client.send(new DeleteObjectCommand({ Bucket: bucket.bucket, Key: key }), {
        abortSignal: signal,
      }),
  ]
  for (const remove of removals) await remove().catch(() => undefined)
}
