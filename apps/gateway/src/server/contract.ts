import { parseConfig } from '#config/load.ts'
import { ERRORS, type ErrorSpec } from '#core/base/errors/errors.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import { openDatabase } from '#core/database/open.ts'
import { openAiTypeOf } from '#http/response/openai-error.ts'
import { createLogger } from '#ops/logger.ts'
import { createGateway } from '../composition/gateway.ts'
import { createServer } from './create-server.ts'

/** Returns the OpenAPI document that the route schemas produce, independent of the machine. */
export async function printOpenApi(): Promise<string> {
  const config = parseConfig(undefined, {})
  const log = createLogger('silent')
  // The database connects at the first query, and there is none here.
  const database = await openDatabase({ kind: 'server', url: 'postgres://127.0.0.1/none' })
  const gateway = await createGateway({ config, database, runtime: systemRuntime, log })
  const app = await createServer(config, gateway, log)
  try {
    const document = (await app.inject('/openapi.json')).json<object>()
    return `${JSON.stringify({ ...document, servers: [{ url: '/' }] }, null, 2)}\n`
  } finally {
    await app.close()
    await database.close()
  }
}

/** Returns the errors of the gateway's table that may be shown to a visitor, as a module of the SDK. */
export function printVisitorErrors(): string {
  const table: Readonly<Record<string, ErrorSpec>> = ERRORS
  const entries = Object.entries(table)
    .filter(([, { isForVisitors = false }]) => isForVisitors)
    .map(([reason, { status }]) => `  ['${reason}', '${openAiTypeOf({ status, reason })}'],`)
  return [
    "// Generated from the gateway's table of errors by `pnpm contract`. Do not edit.",
    "/** The reasons that may be shown to a visitor, with OpenAI's class of the error. */",
    'export const VISITOR_ERRORS: ReadonlyMap<string, string> = new Map([',
    ...entries,
    '])\n',
  ].join('\n')
}
