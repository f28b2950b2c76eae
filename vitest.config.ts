import { defineConfig } from 'vitest/config'
import { servicesToTest } from './test/support/services.ts'

const { postgres, redis } = servicesToTest()

/** Environment of the tests in `apps/` and `test/`. Without these variables they use the embedded database and no Redis. */
const servers = {
  env: { E2E_DATABASE_URL: postgres ?? '', ...(redis !== undefined && { E2E_REDIS_URL: redis }) },
}

const unit = {
  testTimeout: 60_000,
  hookTimeout: 120_000,
  // Without isolation a worker loads modules once for all of its files and reuses the databases that they open.
  isolate: false,
  restoreMocks: true,
}

/** These tests count the timers of their worker, so they must not share it with files that may leave timers behind. */
const COUNT_TIMERS = [
  'apps/gateway/src/core/chat/reply-deadlines.test.ts',
  'apps/gateway/src/core/chat/run.test.ts',
  'apps/gateway/src/core/usage/instances.test.ts',
]

/** Beside their sources, but too slow for `test:unit`. */
const SLOW = [
  // Every test starts from a database without a schema.
  'apps/gateway/src/core/database/migrate.server.test.ts',
  // Both wait for time limits of real sockets.
  'apps/gateway/src/http/connections.test.ts',
  'apps/gateway/src/http/stalled-clients.test.ts',
]

const e2e = {
  globalSetup: ['test/support/template-database.ts'],
  include: ['test/**/*.test.ts'],
  // Generous, because the machine may be busy; no test relies on these timeouts to measure time.
  testTimeout: 60_000,
  hookTimeout: 180_000,
}

export default defineConfig({
  test: {
    // Every file in `test/` starts its own gateways, of which two cores can run two at a time.
    maxWorkers: 2,
    projects: [
      {
        test: {
          ...unit,
          name: 'unit',
          include: ['apps/**/*.test.ts', 'packages/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...COUNT_TIMERS, ...SLOW],
        },
      },
      { test: { ...unit, name: 'unit:timers', include: COUNT_TIMERS, isolate: true } },
      { test: { ...e2e, name: 'e2e:embedded', include: [...e2e.include, ...SLOW] } },
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
