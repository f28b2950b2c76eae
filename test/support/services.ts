export interface TestServices {
  /** URL of a PostgreSQL server on which tests may create databases. */
  readonly postgres: string | undefined
  /** URL of a Redis server that tests may write to. */
  readonly redis: string | undefined
  /** An S3 server on which tests may create buckets. */
  readonly s3: TestS3 | undefined
}

export interface TestS3 {
  readonly endpoint: string
  readonly region: string
  /** Gateways use this bucket. Tests of the storage itself create others, whose names begin with this one's. */
  readonly bucket: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

/**
 * Returns the services that the environment names. Without them the tests that need them are skipped.
 *
 * @throws if a service is missing and REQUIRE_SERVICES is set, as it is in continuous integration.
 */
export function servicesToTest(env: NodeJS.ProcessEnv = process.env): TestServices {
  return {
    postgres: serviceAt(env, 'TEST_DATABASE_URL', 'a postgres:// URL'),
    redis: serviceAt(env, 'TEST_REDIS_URL', 'a redis:// URL'),
    s3: s3At(env),
  }
}

function serviceAt(env: NodeJS.ProcessEnv, name: string, expected: string): string | undefined {
  const url = env[name] || undefined
  if (url !== undefined) return url
  if (env.REQUIRE_SERVICES) throw new Error(`${name}: is required here; expected ${expected}`)
  return undefined
}

/** @throws also if some of the variables are set and others are not */
function s3At(env: NodeJS.ProcessEnv): TestS3 | undefined {
  const names = ['ENDPOINT', 'REGION', 'BUCKET', 'ACCESS_KEY_ID', 'SECRET_ACCESS_KEY'].map(
    (name) => `TEST_S3_${name}`,
  )
  const missing = names.filter((name) => !env[name])
  if (missing.length > 0 && missing.length < names.length) {
    throw new Error(`${missing.join(', ')}: required with the other TEST_S3_ variables`)
  }
  const endpoint = serviceAt(env, 'TEST_S3_ENDPOINT', 'the URL of an S3 server')
  if (endpoint === undefined) return undefined
  const [, region = '', bucket = '', accessKeyId = '', secretAccessKey = ''] = names.map((name) => env[name])
  return { endpoint, region, bucket, accessKeyId, secretAccessKey }
}
