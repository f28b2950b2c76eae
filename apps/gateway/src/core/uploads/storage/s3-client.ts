import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'
import { STALLED_MS, StorageError } from './storage.ts'

export interface S3Settings {
  readonly bucket: string
  /**
   * URL of the server; undefined for AWS. Servers other than AWS are addressed in path style, which needs no DNS name for each
   * bucket. Where the host begins with the bucket's name, as providers that refuse path style write it, that host is used.
   */
  readonly endpoint?: string | undefined
  /** By default the region that AWS tools use, and on other servers us-east-1, since few of them have regions. */
  readonly region?: string | undefined
  /** By default those that AWS tools find: the usual `AWS_*` variables, a profile, or the role of the machine. */
  readonly credentials?: S3ClientConfig['credentials']
}

export interface S3Limits {
  readonly connectMs: number
  /** The longest pause in a request or its reply. The whole may take longer, since a part may be sent over a slow line. */
  readonly idleMs: number
  /** How long the whole of a removal may take, and how long a read until its first bytes, with all repetitions. */
  readonly stalledMs: number
  readonly pingMs: number
  /** How long a failed write may try to remove what it has written. */
  readonly cleanUpMs: number
}

export const S3_LIMITS: S3Limits = {
  connectMs: 5_000,
  idleMs: 30_000,
  stalledMs: STALLED_MS,
  pingMs: 3_000,
  cleanUpMs: 10_000,
}

/**
 * The SDK's configuration for a bucket.
 *
 * @throws StorageError if there is no region
 */
export async function s3ClientConfig(settings: S3Settings, limits: S3Limits): Promise<S3ClientConfig> {
  const { bucket, credentials } = settings
  const endpoint = settings.endpoint === undefined ? undefined : new URL(settings.endpoint)
  const isOwnHost = endpoint?.hostname.startsWith(`${bucket}.`) === true
  if (endpoint !== undefined && isOwnHost) endpoint.hostname = endpoint.hostname.slice(bucket.length + 1)
  return {
    ...omitUndefined({ endpoint: endpoint?.href, credentials }),
    forcePathStyle: endpoint !== undefined && !isOwnHost,
    region: await regionOf(settings),
    maxAttempts: 3,
    // With this header every part opens a new connection, and waits 6 s behind proxies that do not answer it.
    expectContinueHeader: false,
    requestHandler: {
      connectionTimeout: limits.connectMs,
      socketTimeout: limits.idleMs,
      // The number of calls and uploads is limited elsewhere. Here a limit would let new requests run out of time behind slow
      // ones, because the time for connecting includes the wait for a free socket.
      httpAgent: { maxSockets: Number.POSITIVE_INFINITY },
      httpsAgent: { maxSockets: Number.POSITIVE_INFINITY },
    },
  }
}

async function regionOf({ region, endpoint }: S3Settings): Promise<string> {
  if (region !== undefined) return region
  const client = new S3Client()
  try {
    return await client.config.region()
  } catch (cause) {
    if (endpoint !== undefined) return 'us-east-1'
    throw new StorageError(
      'S3_REGION: is required, because neither AWS_REGION nor a profile names a region.',
      {
        cause,
      },
    )
  } finally {
    client.destroy()
  }
}
