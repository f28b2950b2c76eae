import { randomInt } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { provenFiles } from './test/support/proven-files.ts'
import { ReportProven } from './test/support/report-proven.ts'
import { ReportSample } from './test/support/report-sample.ts'
import { ReportSecondTries } from './test/support/report-second-tries.ts'
import { servicesToTest } from './test/support/services.ts'
import { ESSENTIAL, EXHAUSTIVE, ON_EMBEDDED_ALONE, ON_EMBEDDED_TOO } from './test/support/suites.ts'
import { V8_FLAGS } from './test/support/v8-flags.ts'

const { postgres, redis, s3 } = servicesToTest()

/**
 * How often a failed test of `test:rest` is run again. `.ci/run` allows one more try, because among thousands of scenarios with
 * real processes one may meet a pause of the machine; what passed only then is listed at the end. `test` tries nothing twice.
 */
const retry = Number(process.env.TEST_RETRY ?? 0)

/** What `test:ci` leaves out, since it has passed and nothing has changed that it depends on. */
const proven = process.env.TEST_ONLY_UNPROVEN ? provenFiles() : []

/** Chooses the cases of products that `test` runs, and others in each run unless `TEST_SEED` names it. */
const sampleSeed = process.env.TEST_SEED || String(randomInt(1_000_000))

/**
 * Environment of the tests in `apps/` and `test/`. Without these variables they use the embedded database, no Redis and the
 * local disk.
 */
const servers = {
  env: {
    E2E_DATABASE_URL: postgres ?? '',
    ...(redis !== undefined && { E2E_REDIS_URL: redis }),
    ...(s3 !== undefined && {
      E2E_S3_ENDPOINT: s3.endpoint,
      E2E_S3_REGION: s3.region,
      E2E_S3_BUCKET: s3.bucket,
      E2E_S3_ACCESS_KEY_ID: s3.accessKeyId,
      E2E_S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    }),
  },
}

/** Long, because what is polled for may be late on a busy machine; by default a poll gives up after one second. */
const poll = { timeout: 20_000 }

const unit = {
  execArgv: [...V8_FLAGS],
  testTimeout: 60_000,
  hookTimeout: 120_000,
  // Without isolation a worker loads modules once for all of its files and reuses the databases that they open.
  isolate: false,
  restoreMocks: true,
  expect: { poll },
}
/** Makes the archive of the embedded databases of these tests. */
const embedded = { ...unit, globalSetup: ['test/support/scratch-archive.ts'] }

/**
 * Tests that count the timers of their worker, which they must not share with files that may leave timers behind. Those on both
 * databases take what a worker opens for all of its files, so they stay there.
 */
const COUNT_TIMERS = globSync('{apps,packages}/**/*.test.ts', { exclude: ['**/node_modules'] }).filter(
  (file) =>
    !file.endsWith('.server.test.ts') &&
    /getTimerCount|getActiveResourcesInfo/.test(readFileSync(file, 'utf8')),
)

/** Beside their sources, but too slow for `test:unit`: they run with the end-to-end tests. */
const SLOW = [
  // Every test starts from a database without a schema.
  'apps/gateway/src/core/database/migrations/migrate.server.test.ts',
]

/** The tests of the console in a browser. */
const CONSOLE = ['test/console/**/*.test.ts']

/** What end-to-end tests have in common, whichever database their gateways use. */
const e2e = {
  execArgv: [...V8_FLAGS],
  globalSetup: ['test/support/template-database.ts'],
  // Generous, because the machine may be busy; no test relies on these timeouts to measure time.
  testTimeout: 60_000,
  hookTimeout: 180_000,
  isolate: false,
  restoreMocks: true,
  expect: { poll },
}

/** The rest runs on PostgreSQL where there is one, and on the embedded database where there is none. */
const rest = {
  ...e2e,
  retry,
  include: ['test/**/*.test.ts', ...SLOW],
  exclude: ['**/node_modules/**', ...ESSENTIAL, ...CONSOLE, ...proven],
}

/** In a project of their own, because one gateway is started for all of them. */
const console = {
  ...rest,
  ...(postgres !== undefined && servers),
  name: 'console',
  globalSetup: [...e2e.globalSetup, 'test/support/shared-console.ts'],
  include: CONSOLE,
  exclude: ['**/node_modules/**'],
}

/** The essential ones have run on the embedded database, so only what depends on the database runs here as well. */
const dependsOnDatabase = (file: string) => ON_EMBEDDED_TOO.includes(file)
const exclude = [...rest.exclude.filter((file) => !dependsOnDatabase(file)), ...ON_EMBEDDED_ALONE]

/**
 * As Node resolves them: by default vite would add the condition `development`, of which `graphql` has a second copy, and
 * schemas of one copy are refused by the other. The condition of our own leads to the sources of packages that are built
 * only when they are published.
 */
const conditions = ['@trunkline/source', 'module-sync', 'node']
const ssr = { resolve: { conditions, externalConditions: conditions } }

export default defineConfig({
  test: {
    // A file of `test/` starts its own gateways, and waits for them as long as it works.
    maxWorkers: availableParallelism() + 1,
    reporters: ['default', new ReportSample(), new ReportSecondTries(), new ReportProven()],
    // The SDK of the A2A agent prints each call that the agent refuses or fails.
    onConsoleLog: (text) => !/^(?:Pre-stream error|Agent execution failed) /.test(text),
    projects: [
      {
        ssr,
        test: {
          ...embedded,
          name: 'unit',
          provide: { sampleSeed },
          include: ['apps/**/*.test.ts', 'packages/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...COUNT_TIMERS, ...SLOW],
        },
      },
      { ssr, test: { ...unit, name: 'unit:timers', include: COUNT_TIMERS, isolate: true } },
      {
        ssr,
        test: {
          ...embedded,
          retry,
          name: 'exhaustive',
          include: [...EXHAUSTIVE],
          globalSetup: [...embedded.globalSetup, ...e2e.globalSetup],
        },
      },
      { ssr, test: { ...e2e, name: 'essential', provide: { sampleSeed }, include: [...ESSENTIAL] } },
      { ssr, test: console },
      ...(postgres === undefined
        ? [{ ssr, test: { ...rest, name: 'e2e:embedded' } }]
        : [
            {
              ssr,
              test: { ...rest, name: 'e2e:embedded', include: [...ON_EMBEDDED_TOO, ...ON_EMBEDDED_ALONE] },
            },
            { ssr, test: { ...rest, ...servers, name: 'e2e:postgres', exclude } },
            {
              ssr,
              test: {
                ...unit,
                ...servers,
                retry,
                globalSetup: e2e.globalSetup,
                name: 'servers',
                include: ['apps/**/*.server.test.ts'],
                exclude: ['**/node_modules/**', ...SLOW],
              },
            },
          ]),
    ],
  },
})
