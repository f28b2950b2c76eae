import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { printedSchema } from '../apps/gateway/src/graphql/schema.ts'
import { printOpenApi, printVisitorErrors } from '../apps/gateway/src/server/contract.ts'
import { recordNames, wireTypes } from '../tools/contract/wire-types.ts'
import { breakingChanges } from './breaking-changes.ts'
import { commandReference } from './command-reference.ts'
import { agentsReference, settingsReference, variablesReference } from './configuration-reference.ts'
import { folderReference } from './folder-reference.ts'
import { withGeneratedParts } from './generated-parts.ts'
import { metricsReference } from './metrics-reference.ts'
import { withSymbolLinks } from './symbol-links.ts'
import { vendorReference } from './vendor-reference.ts'
import { wordTypes } from './word-types.ts'

/** Paths of the committed contract. */
export const CONTRACT = new URL('../openapi.json', import.meta.url)
export const GRAPHQL_CONTRACT = new URL('../schema.graphql', import.meta.url)
/** The types of the SDK, which are generated from the first of them. */
const WIRE_TYPES = new URL('../packages/sdk/src/generated/wire.ts', import.meta.url)
/** The names that the SDK exports of them. */
export const RECORD_NAMES = new URL('../packages/sdk/src/generated/records.ts', import.meta.url)
/** The words of both, as types of the SDK. */
export const WORD_TYPES = new URL('../packages/sdk/src/generated/words.ts', import.meta.url)
/** What the SDK may show to the visitors of a page, which comes from the table of errors. */
export const VISITOR_ERRORS = new URL('../packages/sdk/src/generated/visitor-errors.ts', import.meta.url)
/** The version that the SDK sends to the gateway. */
export const SDK_VERSION = new URL('../packages/sdk/src/generated/version.ts', import.meta.url)
const SDK_PACKAGE = new URL('../packages/sdk/package.json', import.meta.url)

/** Writes the generated parts of a page, by their names. */
type Parts = () => Record<string, string> | Promise<Record<string, string>>

/** The pages of which parts come from the code, with what writes them. What stands around the parts is written by hand. */
export const REFERENCE_PAGES: readonly (readonly [page: string, parts: Parts])[] = [
  ['docs/configuration.md', variablesReference],
  ['docs/agent-settings.md', agentsReference],
  ['docs/settings.md', settingsReference],
  ['docs/command-line.md', commandReference],
  ['docs/metrics.md', metricsReference],
  ['docs/agents.md', vendorReference],
  ['CONTRIBUTING.md', folderReference],
  // Its links to lines are all that is generated.
  ['docs/a-chat-line-by-line.md', () => ({})],
]

/** Returns the module with the version of the SDK, which its package.json alone decides. */
export async function printSdkVersion(): Promise<string> {
  const { version }: { version: string } = JSON.parse(await readFile(SDK_PACKAGE, 'utf8'))
  return [
    '// Generated from the version in package.json by `pnpm contract`. Do not edit.',
    '/** The version of this package. */',
    `export const VERSION = '${version}'\n`,
  ].join('\n')
}

/** Returns a page as it should be, with its generated parts, and its links to symbols where they are declared. */
export async function printReferencePage(page: string, parts: Parts): Promise<string> {
  return withSymbolLinks(page, withGeneratedParts(await readFile(fileOf(page), 'utf8'), await parts()))
}

function fileOf(page: string): URL {
  return new URL(`../${page}`, import.meta.url)
}

/** Prints what a change of the GraphQL schema breaks, compared with the committed one or with the one of another commit. */
function nameBreakingChanges(before: string, after: string): boolean {
  const { breaking, dangerous } = breakingChanges(before, after)
  for (const change of breaking) console.error(`schema.graphql: this change breaks clients: ${change}`)
  for (const change of dangerous) console.error(`schema.graphql: this change may surprise clients: ${change}`)
  return breaking.length > 0
}

type ReferencePage = (typeof REFERENCE_PAGES)[number]

async function referenceFile([page, parts]: ReferencePage): Promise<readonly [URL, string, string]> {
  return [fileOf(page), `${page} does not match the code`, await printReferencePage(page, parts)]
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { check: { type: 'boolean' }, against: { type: 'string' } } })
  const printed = await printOpenApi()
  const schema = printedSchema()
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
      [RECORD_NAMES, 'The names of the SDK do not match openapi.json', recordNames(printed)],
      [WORD_TYPES, 'The words of the SDK do not match schema.graphql', wordTypes(schema, printed)],
      [
        VISITOR_ERRORS,
        'What the SDK shows to visitors does not match the table of errors',
        printVisitorErrors(),
      ],
      [SDK_VERSION, 'The version of the SDK does not match its package.json', await printSdkVersion()],
      ...(await Promise.all(REFERENCE_PAGES.map(referenceFile))),
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
