import { readFile, writeFile } from 'node:fs/promises'
import { parseConfig } from '../apps/gateway/src/config/load.ts'
import { openDatabase } from '../apps/gateway/src/core/database/open.ts'
import { systemRuntime } from '../apps/gateway/src/core/runtime.ts'
import { createGateway } from '../apps/gateway/src/gateway.ts'
import { createLogger } from '../apps/gateway/src/ops/logger.ts'
import { createServer } from '../apps/gateway/src/server.ts'

/** Path of the committed contract. */
export const CONTRACT = new URL('../openapi.json', import.meta.url)

/** Returns the OpenAPI document that the route schemas produce, independent of the machine. */
export async function printContract(): Promise<string> {
  const config = parseConfig(undefined, {})
  const log = createLogger('silent')
  // The database connects at the first query, and there is none here.
  const database = await openDatabase({ kind: 'server', url: 'postgres://127.0.0.1/none' })
  const gateway = createGateway({ config, database, runtime: systemRuntime, log })
  const app = await createServer(config, gateway, log)
  try {
    const document = (await app.inject('/openapi.json')).json<object>()
    return `${JSON.stringify({ ...document, servers: [{ url: '/' }] }, null, 2)}\n`
  } finally {
    await app.close()
    await database.close()
  }
}

if (import.meta.main) {
  const printed = await printContract()
  if (!process.argv.includes('--check')) {
    await writeFile(CONTRACT, printed)
  } else if ((await readFile(CONTRACT, 'utf8').catch(() => '')) !== printed) {
    console.error('openapi.json does not match the routes: run "pnpm contract" and commit the result.')
    process.exitCode = 1
  }
}
