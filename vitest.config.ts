import { defineConfig } from 'vitest/config'
import { servicesToTest } from './test/support/services.ts'

const e2e = {
  include: ['test/**/*.test.ts'],
  // Generous: a machine may be busy with other things, and no test measures time by it.
  testTimeout: 60_000,
  hookTimeout: 180_000,
}

const { postgres, redis } = servicesToTest()

export default defineConfig({
  test: {
    // Every file of `test/` starts gateways of its own: two cores carry two of them.
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: 'unit',
          include: ['apps/**/*.test.ts', 'packages/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      { test: { ...e2e, name: 'e2e:embedded' } },
      ...(postgres === undefined
        ? []
        : [
            {
              test: {
                ...e2e,
                name: 'e2e:postgres',
                env: { E2E_DATABASE_URL: postgres, ...(redis !== undefined && { E2E_REDIS_URL: redis }) },
              },
            },
          ]),
    ],
  },
})
