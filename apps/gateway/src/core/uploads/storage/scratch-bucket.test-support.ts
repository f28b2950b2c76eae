import { randomBytes } from 'node:crypto'
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteBucketPolicyCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutBucketPolicyCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import type { S3Settings } from './s3-client.ts'

/** An S3 server on which tests may create buckets. */
export interface S3TestServer {
  readonly endpoint: string
  readonly region: string
  readonly bucket: string
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string }
}

/** What credentials need beyond writing, reading and removing files, so that a sweep can find what is left over. */
export const LISTING = ['s3:ListBucket', 's3:ListBucketMultipartUploads']

/** The server that the test run names; undefined without one. */
export function s3TestServer(env: NodeJS.ProcessEnv = process.env): S3TestServer | undefined {
  const { E2E_S3_ENDPOINT: endpoint, E2E_S3_REGION: region = '', E2E_S3_BUCKET: bucket = '' } = env
  if (!endpoint) return undefined
  const credentials = {
    accessKeyId: env.E2E_S3_ACCESS_KEY_ID ?? '',
    secretAccessKey: env.E2E_S3_SECRET_ACCESS_KEY ?? '',
  }
  return { endpoint, region, bucket, credentials }
}

/** A bucket of one test file's own, so that its leftovers can be counted while other tests run. */
export interface ScratchBucket {
  readonly settings: S3Settings & { readonly endpoint: string }
  readonly client: S3Client
  /** Keys of all objects, and of all multipart uploads that are neither completed nor aborted. */
  leftovers(): Promise<string[]>
  /** Allows or denies actions to everybody, or neither if called without a rule. */
  setPolicy(rule?: { readonly effect: 'Allow' | 'Deny'; readonly actions: readonly string[] }): Promise<void>
  /** Sets a policy that is written elsewhere. */
  setPolicyDocument(document: string): Promise<void>
  /** Deletes the bucket with its content. It may be gone already. */
  drop(): Promise<void>
}

export async function createScratchBucket(server: S3TestServer): Promise<ScratchBucket> {
  const { endpoint, region, credentials } = server
  const bucket = `${server.bucket}-${randomBytes(6).toString('hex')}`
  const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true })
  await client.send(new CreateBucketCommand({ Bucket: bucket }))

  const objects = async () => {
    const { Contents: contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket }))
    return contents.map(({ Key }) => Key ?? '')
  }
  const setPolicyDocument = async (document: string) => {
    await client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy: document }))
  }
  return {
    settings: { bucket, endpoint, region, credentials },
    client,
    async leftovers() {
      const { Uploads: uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }))
      return [...(await objects()), ...uploads.map(({ Key }) => `unfinished ${Key}`)]
    },
    async setPolicy(rule) {
      if (rule === undefined)
        return void (await client.send(new DeleteBucketPolicyCommand({ Bucket: bucket })))
      const Resource = [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/uploads/*`]
      const Statement = [{ Effect: rule.effect, Principal: '*', Action: rule.actions, Resource }]
      await setPolicyDocument(JSON.stringify({ Version: '2012-10-17', Statement }))
    },
    setPolicyDocument,
    async drop() {
      try {
        for (const key of await objects())
          await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }))
        await client.send(new DeleteBucketCommand({ Bucket: bucket }))
      } catch (error) {
        if (!(error instanceof Error && error.name === 'NoSuchBucket')) throw error
      } finally {
        client.destroy()
      }
    },
  }
}
