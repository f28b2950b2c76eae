import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PackedPackage, packPackage } from '../../support/packed-package.ts'

// A process, because each version of the compiler is a program, and reads the package as it is installed.

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../../..')
const TEST_MODULES = join(import.meta.dirname, '../node_modules')

/** What would be `any` where a compiler cannot read the types is assigned to a type that it does not have. */
const PROGRAM = `
import { type CallOutcome, type ClientOptions, Trunkline, type UsageGroupValues } from '@trunkline/sdk'
import { ChatClient, type PauseField, readChatStream } from '@trunkline/sdk/chat'
import { withGraphQL } from '@trunkline/sdk/graphql'

export async function read(client: Trunkline): Promise<void> {
  // @ts-expect-error
  for await (const chunk of client.chat.stream({ query: 'Hello' })) chunk satisfies number
  // @ts-expect-error
  for await (const chunk of readChatStream(new Response())) chunk satisfies number
  // @ts-expect-error
  for await (const item of withGraphQL(client).subscribe<{ n: string }>('')) item satisfies number
  // @ts-expect-error What is internal is no part of the package.
  client.transport
  // @ts-expect-error
  client.chat.keptCall
}

/** A field has what belongs to its type. */
export function choices(field: PauseField): readonly string[] {
  if (field.type === 'select') return field.options
  if (field.type === 'file-list') return field.default ?? []
  // @ts-expect-error
  field.options
  if (field.type === 'checkbox') field.default satisfies boolean | undefined
  return field.type === 'text' ? [field.default ?? ''] : []
}

export async function words(client: Trunkline): Promise<void> {
  const outcomes: Record<CallOutcome, number> = {
    done: 1, client_gone: 0, upstream_error: 0, timeout: 0, drained: 0, interrupted: 0, rejected: 0,
  }
  const [call] = (await client.calls.list({ outcome: ['failed', 'running'] })).items
  if (call?.outcome) outcomes[call.outcome] += 1
  const nameOf = ({ agent = '', model = '' }: UsageGroupValues) => agent + model
  const { groups, previous } = await client.usage.query({ group_by: ['agent', 'model'], previous: true })
  for (const { group } of [...groups, ...(previous?.groups ?? [])]) nameOf(group) satisfies string
  // @ts-expect-error
  groups[0]?.group.colour
  // @ts-expect-error
  await client.usage.query({ group_by: 'colour' })
  // @ts-expect-error
  await client.calls.list({ outcome: 'lost' })
}

/** The forms of \`fetch\` of other runtimes, as their own types declare them. */
interface BunFetch {
  (input: string | URL | Request, init?: RequestInit & { readonly verbose?: boolean }): Promise<Response>
  preconnect(url: string | URL): void
}
interface ExpoResponse extends Pick<Response, 'headers' | 'ok' | 'status' | 'text' | 'json'> {
  readonly body: ReadableStream<Uint8Array> | null
  toJSON(): object
}
interface ExpoInit extends Pick<RequestInit, 'body' | 'credentials' | 'headers' | 'method' | 'signal'> {
  readonly window?: unknown
}
type ExpoFetch = (url: string, init?: ExpoInit) => Promise<ExpoResponse>
/** The types of React Native know no body of a response. */
type NativeFetch = (input: RequestInfo, init?: RequestInit) => Promise<Omit<Response, 'body'>>

export function clients(bun: BunFetch, expo: ExpoFetch, native: NativeFetch): void {
  for (const each of [fetch, bun, expo, native]) new Trunkline({ fetch: each } satisfies ClientOptions)
  new ChatClient({ fetch: bun })
  new ChatClient({ fetch: (url, init) => fetch(new Request(url, init)) })
  // @ts-expect-error
  new ChatClient({ fetch: async () => 'a text' })
}
`

let sdk: PackedPackage
beforeAll(async () => {
  sdk = await packPackage('sdk')
  await writeFile(join(sdk.project, 'module.mts'), PROGRAM)
  await writeFile(join(sdk.project, 'script.cts'), PROGRAM)
})
afterAll(async () => {
  await sdk?.remove()
})

/** What a compiler says of a program that imports every entry, as ESM and as CommonJS. */
async function mistakes(compiler: string, [module, moduleResolution]: Resolution, ...more: string[]) {
  const resolution = ['--module', module, '--moduleResolution', moduleResolution]
  const options = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2023,dom', '--typeRoots', 'none']
  const args = [join(compiler, 'bin/tsc'), ...options, ...resolution, ...more, 'module.mts', 'script.cts']
  const { stdout } = await run(process.execPath, args, { cwd: sdk.project }).catch(
    (error: { stdout: string }) => error,
  )
  return stdout
}

type Resolution = readonly [module: string, moduleResolution: string]

const RESOLUTIONS: readonly Resolution[] = [
  ['nodenext', 'nodenext'],
  ['esnext', 'bundler'],
]
/** TypeScript 7 has it no more. */
const OLD_RESOLUTIONS: readonly Resolution[] = [['node16', 'node16'], ...RESOLUTIONS, ['commonjs', 'node10']]

// Without `skipLibCheck` an old compiler would find fault with the types themselves.
test.each(OLD_RESOLUTIONS)(
  'TypeScript 5.5 is told at every import what it needs, with the module %s resolved as %s',
  async (...resolution) => {
    const found = await mistakes(join(TEST_MODULES, 'typescript-5.5'), resolution, '--skipLibCheck')
    const refusals = found.match(
      /TS2306: File '.*\/requires-typescript-5\.6-or-later\.d\.ts' is not a module/g,
    )
    expect(refusals).toHaveLength(6)
  },
)

describe.each([
  ['5.6', join(TEST_MODULES, 'typescript-5.6'), OLD_RESOLUTIONS],
  ['7', join(ROOT, 'node_modules/typescript'), RESOLUTIONS],
])('TypeScript %s', (_version, compiler, resolutions) => {
  test.each(resolutions)('reads the types, with the module %s resolved as %s', async (...resolution) => {
    expect(await mistakes(compiler, resolution)).toBe('')
  })
})
