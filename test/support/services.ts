export interface TestServices {
  /** URL of a PostgreSQL server on which tests may create databases. */
  readonly postgres: string | undefined
  /** URL of a Redis server that tests may write to. */
  readonly redis: string | undefined
}

/**
 * Returns the services that the environment names. Without them the tests that need them are skipped with a warning.
 *
 * @throws if a service is missing and REQUIRE_SERVICES is set, as it is in continuous integration.
 */
export function servicesToTest(env: NodeJS.ProcessEnv = process.env): TestServices {
  return {
    postgres: serviceAt(env, 'TEST_DATABASE_URL', 'a postgres:// URL'),
    redis: serviceAt(env, 'TEST_REDIS_URL', 'a redis:// URL'),
  }
}

function serviceAt(env: NodeJS.ProcessEnv, name: string, expected: string): string | undefined {
  const url = env[name] || undefined
  if (url !== undefined) return url
  if (env.REQUIRE_SERVICES) throw new Error(`${name}: is required here; expected ${expected}`)
  console.warn(`${name} is not set: end-to-end tests that need it are skipped`)
  return undefined
}
