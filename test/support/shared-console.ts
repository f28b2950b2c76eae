import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { TestProject } from 'vitest/node'
import { HAS_BROWSER } from './browser.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the gateway is that the tests of the console share, and its process. */
    readonly sharedConsole: { readonly url: string; readonly pid: number }
  }
}

/**
 * Global setup of the tests of the console: starts the gateway that all files use whose subject is not the gateway itself. Each
 * has users of its own there (`joinConsole`). It is started by a process of its own, because a global setup resolves no sources
 * of the workspace; that process ends with this one.
 */
export default async function startSharedConsole(
  project: TestProject,
): Promise<(() => Promise<void>) | undefined> {
  if (!HAS_BROWSER) return undefined
  const child = spawn(process.execPath, ['--conditions=@trunkline/source', import.meta.filename], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const closed = once(child, 'close')
  const ended = closed.then(() => Promise.reject(new Error('the gateway of the console tests did not start')))
  const [line] = await Promise.race([once(child.stdout, 'data'), ended])
  project.provide('sharedConsole', JSON.parse(String(line)))
  return async () => {
    child.stdin.end()
    await closed
  }
}

if (import.meta.main) {
  const { startGatewayWithSandbox } = await import('./gateway-with-sandbox.ts')
  const { createScratchDatabase } = await import(
    '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
  )
  const server = process.env.TEST_DATABASE_URL
  const database = server ? await createScratchDatabase(server) : undefined
  const system = await startGatewayWithSandbox({ databaseUrl: database?.url, isOnDisk: true })
  const { url, pid } = system.gateway
  process.stdout.write(JSON.stringify({ url, pid }))
  await once(process.stdin.resume(), 'end')
  await system.remove()
  await database?.drop()
}
