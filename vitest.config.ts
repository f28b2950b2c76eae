import { defineConfig } from 'vitest/config'
import { servicesToTest } from './test/support/services.ts'

const { postgres, redis } = servicesToTest()

/** Read by the tests of `apps/` and `test/` alike; without them they use the embedded database and no Redis. */
const servers = {
  env: { E2E_DATABASE_URL: postgres ?? '', ...(redis !== undefined && { E2E_REDIS_URL: redis }) },
}

const unit = {
  testTimeout: 60_000,
  hookTimeout: 120_000,
  // A worker loads the modules once for all of its files, and keeps the databases that they open.
  isolate: false,
  restoreMocks: true,
}

/** They count the timers of their worker, among which another file may have left one. */
const COUNT_TIMERS = [
  'apps/gateway/src/core/chat/reply-deadlines.test.ts',
  'apps/gateway/src/core/chat/run.test.ts',
  'apps/gateway/src/core/usage/instances.test.ts',
]

/** Takes long by nature: every test starts from a database without a schema. */
const MIGRATIONS = 'apps/gateway/src/core/database/migrate.server.test.ts'

const e2e = {
  globalSetup: ['test/support/template-database.ts'],
  include: ['test/**/*.test.ts'],
  // Generous: a machine may be busy with other things, and no test measures time by it.
  testTimeout: 60_000,
  hookTimeout: 180_000,
}

export default defineConfig({
  test: {
    // Every file of `test/` starts gateways of its own: two cores carry two of them.
    maxWorkers: 2,
    projects: [
      {
        test: {
          ...unit,
          name: 'unit',
          include: ['apps/**/*.test.ts', 'packages/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...COUNT_TIMERS, MIGRATIONS],
        },
      },
      { test: { ...unit, name: 'unit:timers', include: COUNT_TIMERS, isolate: true } },
      { test: { ...e2e, name: 'e2e:embedded', include: [...e2e.include, MIGRATIONS] } },
      ...(postgres === undefined
        ? []
        : [
            {
              test: {
                ...unit,
                ...servers,
                globalSetup: e2e.globalSetup,
                name: 'servers',
                include: ['apps/**/*.server.test.ts'],
              },
            },
            { test: { ...e2e, ...servers, name: 'e2e:postgres' } },
          ]),
    ],
  },
})
