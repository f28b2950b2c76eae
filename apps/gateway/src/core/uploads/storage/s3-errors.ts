import { errorCode } from '#core/base/values/error-code.ts'
import { StorageError } from './storage.ts'

/** What messages name: never a key or a URL with a signature. */
export interface S3Place {
  readonly bucket: string
  /** Host of the endpoint, with its port. */
  readonly host: string
}

/** Translates an error of the AWS SDK for the operator, who finds the setting to correct at the start of the message. */
export function s3Error(error: unknown, place: S3Place): StorageError {
  return error instanceof StorageError ? error : new StorageError(messageOf(error, place), { cause: error })
}

/** The code of an entry in a reply that reports errors for single files, as an error. */
export function s3ErrorOfCode(code: string, place: S3Place): StorageError {
  return s3Error(Object.assign(new Error(code), { name: code }), place)
}

/** Whether the request was refused because the credentials do not permit it. */
export function isDenied(error: unknown): boolean {
  return nameOf(error) === 'AccessDenied' || statusOf(error) === 403
}

/** Whether another request for the same object was in progress, in the words of which servers differ. */
export function isConflict(error: unknown): boolean {
  return statusOf(error) === 409
}

export function isNamed(error: unknown, ...names: readonly string[]): boolean {
  return names.includes(nameOf(error))
}

function messageOf(error: unknown, { bucket, host }: S3Place): string {
  const name = nameOf(error)
  const status = statusOf(error)
  // The reply to a HEAD request has no body, so the SDK finds no name for some errors.
  const answer = `S3 at ${host} answers ${[status, name].filter((part) => part && part !== 'Unknown').join(' ')}`
  const known = MESSAGES[name]
  if (known !== undefined) return status === undefined ? known : `${known} ${answer}.`
  if (name === 'NoSuchBucket' || name === 'NotFound')
    return `S3_BUCKET: there is no bucket ${bucket} at ${host}.`
  if (status === 301 || status === 307) return `${OTHER_REGION} ${answer}.`
  if (status === 403 || name === 'AccessDenied') {
    return `S3_BUCKET: the credentials do not permit this request on the bucket ${bucket}. ${answer}.`
  }
  if (name === 'TimeoutError' || name === 'AbortError') return `S3 at ${host} does not answer in time.`
  const code = connectionCodeOf(error)
  if (code !== undefined) return `S3 at ${host} cannot be reached (${code}).`
  return status === undefined ? `A request to S3 at ${host} has failed (${name}).` : `${answer}.`
}

const OTHER_REGION = 'S3_REGION: the bucket is in another region.'
const NO_CREDENTIALS =
  'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: no credentials for S3 were found, here or in the other places where AWS tools look.'
const SESSION_ENDED = 'AWS_SESSION_TOKEN: the temporary credentials have expired or are wrong.'

/** By the names that the SDK gives to errors, which are S3's codes or its own. */
const MESSAGES: Readonly<Record<string, string>> = {
  InvalidAccessKeyId: 'AWS_ACCESS_KEY_ID: S3 does not know this key.',
  SignatureDoesNotMatch: 'AWS_SECRET_ACCESS_KEY: the secret does not belong to the access key.',
  ExpiredToken: SESSION_ENDED,
  InvalidToken: SESSION_ENDED,
  CredentialsProviderError: NO_CREDENTIALS,
  RequestTimeTooSkewed: 'The clocks of this machine and of S3 differ too much.',
  PermanentRedirect: OTHER_REGION,
  AuthorizationHeaderMalformed: OTHER_REGION,
  QuotaExceeded: 'The bucket is full.',
  InsufficientCapacity: 'The storage of the bucket is full.',
  XMinioStorageFull: 'The storage of the bucket is full.',
}

const nameOf = (error: unknown) => (error instanceof Error ? error.name : '')

/** The HTTP status of a reply that the SDK has turned into an error. */
function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('$metadata' in error)) return undefined
  const { $metadata: metadata } = error
  if (typeof metadata !== 'object' || metadata === null || !('httpStatusCode' in metadata)) return undefined
  return typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : undefined
}

/** An error of a host that has several addresses contains one error for each of them. */
function connectionCodeOf(error: unknown): string | undefined {
  return errorCode(error) ?? (error instanceof AggregateError ? errorCode(error.errors[0]) : undefined)
}
