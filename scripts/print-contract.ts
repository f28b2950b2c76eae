import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { parseConfig } from '../apps/gateway/src/config/load.ts'
import { openDatabase } from '../apps/gateway/src/core/database/open.ts'
import { ERRORS, type ErrorSpec } from '../apps/gateway/src/core/errors.ts'
import { systemRuntime } from '../apps/gateway/src/core/runtime.ts'
import { createGateway } from '../apps/gateway/src/gateway.ts'
import { breakingChanges } from '../apps/gateway/src/graphql/breaking-changes.ts'
import { printGraphqlSchema } from '../apps/gateway/src/graphql/schema.ts'
import { openAiTypeOf } from '../apps/gateway/src/http/openai-error.ts'
import { createLogger } from '../apps/gateway/src/ops/logger.ts'
import { createServer } from '../apps/gateway/src/server.ts'
import { wireTypes } from '../tools/contract/wire-types.ts'

/** Paths of the committed contract. */
export const CONTRACT = new URL('../openapi.json', import.meta.url)
export const GRAPHQL_CONTRACT = new URL('../schema.graphql', import.meta.url)
/** The types of the SDK, which are generated from the first of them. */
const WIRE_TYPES = new URL('../packages/sdk/src/generated/wire.ts', import.meta.url)
/** What the SDK may tell the visitors of a page, which comes from the table of errors. */
export const VISITOR_ERRORS = new URL('../packages/sdk/src/generated/visitor-errors.ts', import.meta.url)

/** Returns the OpenAPI document that the route schemas produce, independent of the machine. */
export async function printContract(): Promise<string> {
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

/** Returns the errors of the gateway's table that a visitor may be told, as a module of the SDK. */
export function printVisitorErrors(): string {
  const table: Readonly<Record<string, ErrorSpec>> = ERRORS
  const entries = Object.entries(table)
    .filter(([, { isForVisitors = false }]) => isForVisitors)
    .map(([reason, { status }]) => `  ['${reason}', '${openAiTypeOf({ status, reason })}'],`)
  return [
    "// Generated from the gateway's table of errors by `pnpm contract`. Do not edit.",
    "/** The reasons that a visitor may be told, with OpenAI's class of the error. */",
    'export const VISITOR_ERRORS: ReadonlyMap<string, string> = new Map([',
    ...entries,
    '])\n',
  ].join('\n')
}

/** Prints what a change of the GraphQL schema breaks, compared with the committed one or with the one of another commit. */
function nameBreakingChanges(before: string, after: string): boolean {
  const { breaking, dangerous } = breakingChanges(before, after)
  for (const change of breaking) console.error(`schema.graphql: this change breaks clients: ${change}`)
  for (const change of dangerous) console.error(`schema.graphql: this change may surprise clients: ${change}`)
  return breaking.length > 0
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { check: { type: 'boolean' }, against: { type: 'string' } } })
  const printed = await printContract()
  const schema = printGraphqlSchema()
  const committed = await readFile(GRAPHQL_CONTRACT, 'utf8').catch(() => '')
  if (values.against !== undefined) {
    const before = execFileSync('git', ['show', `${values.against}:schema.graphql`], { encoding: 'utf8' })
    if (nameBreakingChanges(before, schema)) process.exitCode = 1
  } else {
    if (committed !== '') nameBreakingChanges(committed, schema)
    for (const [file, mismatch, text] of [
      [CONTRACT, 'openapi.json does not match the routes', printed],
      [GRAPHQL_CONTRACT, 'schema.graphql does not match the GraphQL schema', schema],
      [WIRE_TYPES, 'The types of the SDK do not match openapi.json', await wireTypes(printed)],
      [
        VISITOR_ERRORS,
        'What the SDK tells visitors does not match the table of errors',
        printVisitorErrors(),
      ],
    ] as const) {
      if (values.check !== true) {
        await writeFile(file, text)
      } else if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
        console.error(`${mismatch}: run "pnpm contract" and commit the result.`)
        process.exitCode = 1
      }
    }
  }
}
