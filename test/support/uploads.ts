import {
  type ScratchBucket,
  s3TestServer,
} from '@trunkline/gateway/src/core/uploads/storage/scratch-bucket.test-support.ts'

/** The record of an upload, as REST returns it. */
export interface UploadRecord {
  readonly id: string
  readonly url: string
  readonly filename: string
  readonly content_type: string
  readonly size: number
  readonly sha256: string
}

/** Sends a file as a browser does, and returns the response unread. */
export function sendFile(
  url: string,
  key: string,
  content: string | Uint8Array<ArrayBuffer>,
  name = 'note.txt',
): Promise<Response> {
  const body = new FormData()
  body.set('created_by', 'a test')
  body.set('file', new Blob([content]), name)
  return fetch(`${url}/api/v1/upload`, { method: 'POST', headers: { authorization: `Bearer ${key}` }, body })
}

/** Uploads a file and returns its record. */
export async function uploadFile(...args: Parameters<typeof sendFile>): Promise<UploadRecord> {
  const response = await sendFile(...args)
  const text = await response.text()
  if (!response.ok) throw new Error(`the upload returned ${response.status}: ${text}`)
  const { data }: { data: UploadRecord } = JSON.parse(text)
  return data
}

/** The environment of a gateway that keeps files on its local disk, whatever a test run has as its default. */
export const ON_DISK = { S3_BUCKET: '', S3_ENDPOINT: '', S3_REGION: '', S3_PUBLIC_URL: '' }

/** The environment of a gateway that keeps files in this bucket. */
export function inBucket({ settings }: ScratchBucket) {
  const { accessKeyId = '', secretAccessKey = '' } = s3TestServer()?.credentials ?? {}
  return {
    S3_BUCKET: settings.bucket,
    S3_ENDPOINT: settings.endpoint,
    S3_REGION: settings.region ?? '',
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  }
}
