export interface TestServices {
  /** A PostgreSQL server on which scratch databases may be made. */
  readonly postgres: string | undefined
  /** A Redis server whose databases may be written to. */
  readonly redis: string | undefined
}

/**
 * Real services are used where the environment names them. A laptop without them runs the rest and is told so;
 * where REQUIRE_SERVICES is set, as it is in continuous integration, nothing may be left out.
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
  console.warn(`${name} is not set: what needs it is left out of the end-to-end tests`)
  return undefined
}
