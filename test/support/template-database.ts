import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createScratchDatabase } from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import type { TestProject } from 'vitest/node'
import { buildPackage } from './built-package.ts'
import { COMPILE_CACHE } from './gateway-template.ts'

/** The projects whose gateways use PostgreSQL. */
const ON_SERVER = ['console', 'e2e:postgres', 'servers']

/**
 * Global setup, which vitest calls for each project: builds the gateway, and creates the prepared database that test gateways
 * copy, either embedded or on PostgreSQL. For PostgreSQL it returns a function that drops the template after the run.
 */
export default async function makeTemplate({
  name,
}: TestProject): Promise<(() => Promise<void>) | undefined> {
  process.env.TEST_GATEWAY_MAIN ??= await buildPackage()
  const serverUrl = ON_SERVER.includes(name) ? process.env.TEST_DATABASE_URL : undefined
  if (serverUrl === undefined) {
    await runTemplate()
    return undefined
  }
  // Another project of the same run may have created it already.
  if (process.env.TEST_TEMPLATE_DATABASE !== undefined) return undefined
  const { url, drop } = await createScratchDatabase(serverUrl)
  await runTemplate(url)
  process.env.TEST_TEMPLATE_DATABASE = new URL(url).pathname.slice(1)
  return drop
}

async function runTemplate(...args: string[]): Promise<void> {
  const env = { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE }
  await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'gateway-template.ts'), ...args], {
    env,
  })
}
