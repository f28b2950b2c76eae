import { GetObjectCommand, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { withoutTrailing } from '#core/base/values/without-trailing.ts'
import { addressUnder, urlUnder } from './file-address.ts'
import type { FileAddress } from './storage.ts'

/** What every key begins with, so that a bucket may hold other things as well. */
export const KEY_PREFIX = 'uploads/'

export const keyOf = ({ token, name }: FileAddress) => `${KEY_PREFIX}${token}/${name}`

/** S3 accepts no signature that is to live longer. */
export const SIGNED_URL_LIFE_SECONDS_MAX = 7 * 24 * 60 * 60

/** A URL that ends at the given time at the latest: a signature ends with the credentials that made it, and after 7 days. */
export async function signedUrl(
  client: S3Client,
  bucket: string,
  address: FileAddress,
  { now, expiresAt }: { readonly now: Date; readonly expiresAt: Date },
): Promise<string> {
  const { expiration } = await client.config.credentials()
  const endMs = Math.min(
    expiresAt.getTime(),
    expiration?.getTime() ?? Number.POSITIVE_INFINITY,
    now.getTime() + SIGNED_URL_LIFE_SECONDS_MAX * 1_000,
  )
  // The shortest life is one second, so a URL that must have ended already is dated back.
  const signingDate = new Date(Math.min(now.getTime(), endMs - 1_000))
  const expiresIn = Math.floor((endMs - signingDate.getTime()) / 1_000)
  const command = new GetObjectCommand({ Bucket: bucket, Key: keyOf(address) })
  return await getSignedUrl(client, command, { signingDate, expiresIn })
}

/**
 * The beginnings of all URLs that may have been issued for files in this bucket, that of `config` first. They are cut from URLs that
 * the SDK signs, in both styles, since it alone knows the hosts of AWS and when it uses which style.
 */
export async function signedUrlBases(config: S3ClientConfig, bucket: string): Promise<string[]> {
  const styles = [config.forcePathStyle === true, config.forcePathStyle !== true]
  return await Promise.all(
    styles.map(async (forcePathStyle) => {
      // Any credentials will do. Those of the installation may not be there yet.
      const credentials = { accessKeyId: 'none', secretAccessKey: 'none' }
      const client = new S3Client({ ...config, credentials, forcePathStyle })
      try {
        const now = new Date()
        const url = new URL(await signedUrl(client, bucket, SAMPLE, { now, expiresAt: now }))
        return `${url.origin}${url.pathname.slice(0, -urlUnder('', SAMPLE).length)}`
      } finally {
        client.destroy()
      }
    }),
  )
}

/** The base of the files' URLs at an address that serves the bucket to everybody. */
export const publicBaseOf = (publicUrl: string) => `${withoutTrailing(publicUrl, '/')}/${KEY_PREFIX}`

export function addressUnderAny(bases: readonly string[], url: URL): FileAddress | undefined {
  for (const base of bases) {
    const address = addressUnder(base, url)
    if (address !== undefined) return address
  }
  return undefined
}

const SAMPLE: FileAddress = { token: 'A'.repeat(43), name: 'sample' }
