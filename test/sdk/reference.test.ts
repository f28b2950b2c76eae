import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { typeErrors, writeExamples } from '../support/examples.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import { type PackedPackage, packPackage } from '../support/packed-package.ts'
import { PASSWORD, programOf } from '../support/reference-program.ts'
import type { ProgramRun, ProgramToRun } from '../support/run-in-threads.ts'
import { type DocumentedName, readSdkReference } from '../support/sdk-reference.ts'

// A process, because the examples of the reference are run as programs, beside an installed package.

const { complaints, names } = await readSdkReference()

/** Their methods are written by users of the SDK, or by a generator, and called by the SDK. */
const CALLED_BY_THE_SDK = ['GraphqlDocument', 'Logger']

/** What can be called has an example. A type that only describes data is shown by those of what takes or returns it. */
function needsExample({ path, kind, base }: DocumentedName): boolean {
  const [owner = '', method] = path.split('.')
  // A class for one status is recognized as the example of its base shows.
  if (kind === 'class') return base !== 'StatusError'
  // Protocols of the language, such as that of `for await`, are shown by the example of the class.
  if (kind === 'method') return !method?.startsWith('[') && !CALLED_BY_THE_SDK.includes(owner)
  return kind === 'function'
}

const PROGRAMS = new Map(
  names.flatMap(({ path, examples }) =>
    examples.map((code, index) => [`${path}-${index}.ts`, programOf(path, code)] as const),
  ),
)

let system: GatewayWithSandbox
let sdk: PackedPackage
let home: string
let env: Record<string, string>
beforeAll(async () => {
  ;[system, sdk] = await Promise.all([startGatewayWithSandbox(), packPackage('sdk')])
  home = await writeExamples(sdk.project, PROGRAMS)
  await writeFile(join(home, 'notes.txt'), 'Ada wrote the first program.')
  env = await environmentOf('alice')
  await vi.waitFor(async () => expect(await refusalsOf(env)).toHaveLength(1), {
    timeout: 20_000,
    interval: 200,
  })
})
afterAll(async () => {
  await system?.remove()
  await sdk?.remove()
})

test('every export is documented, and every link leads somewhere', () => {
  expect(complaints).toBe('')
})

test('every function, class and method that is exported has an example', () => {
  const required = names.filter(needsExample)
  expect(required.length).toBeGreaterThan(50)
  expect(required.filter(({ examples }) => examples.length === 0).map(({ path }) => path)).toEqual([])
})

test("the examples of the SDK's reference have the types of the package", async () => {
  expect(await typeErrors(home)).toBe('')
})

describe('when all examples have run', () => {
  let runs: ReadonlyMap<string, ProgramRun>
  beforeAll(async () => {
    const programs: ProgramToRun[] = []
    for (const [name, program] of PROGRAMS) {
      const endsToken = /\.(logout|changePassword)\(/.test(program)
      programs.push({ name, env: endsToken ? await environmentOf(name.toLowerCase()) : env })
    }
    runs = new Map((await runAll(programs)).map((run) => [run.name, run]))
  })

  test.each([...PROGRAMS])("the example %s of the SDK's reference has run", (name, program) => {
    const { stdout, ...others } = runs.get(name) ?? expect.unreachable('It has not run.')
    expect(others).toEqual({ name, stderr: '', failure: '' })
    // An example whose output is in a branch must reach it.
    if (program.includes('console.log')) expect(stdout).not.toBe('')
  })
})

async function runAll(programs: readonly ProgramToRun[]): Promise<ProgramRun[]> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../support/run-in-threads.ts')], {
    cwd: home,
    env: { PATH: process.env.PATH ?? '' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.end(JSON.stringify(programs))
  return (await json(child.stdout)) as ProgramRun[]
}

/** The environment of the examples of a new administrator. */
async function environmentOf(username: string): Promise<Record<string, string>> {
  await system.api.createUser(system.token, username, { password: PASSWORD, role: 'admin' })
  const token = await system.api.login(username, PASSWORD)
  const key = await system.api.createKey(token, { permissions: ['chat', 'upload'] })
  // Examples that list calls find one, which has failed.
  await system.api.chat(key.full_key, 'dify', { chat_id: '', query: 'sandbox:error=server' })
  // Examples that list conversations find some, of which one deletes one.
  for (let chats = 0; chats < 2; chats += 1) {
    await (await system.api.chat(key.full_key, 'dify', { chat_id: '', query: 'Hello', user: 'ann' })).text()
  }
  // Examples that list refusals find one too.
  await system.api.chat(key.full_key, 'unknown', { chat_id: '', query: 'Hello' })
  return {
    PATH: process.env.PATH ?? '',
    TRUNKLINE_URL: system.gateway.url,
    TRUNKLINE_API_KEY: key.full_key,
    TRUNKLINE_TOKEN: token,
  }
}

/** Refusals are written every few seconds. */
async function refusalsOf({ TRUNKLINE_URL, TRUNKLINE_TOKEN }: Record<string, string>): Promise<unknown[]> {
  const headers = { authorization: `Bearer ${TRUNKLINE_TOKEN}` }
  const response = await fetch(`${TRUNKLINE_URL}/api/v1/refusals`, { headers })
  return (await response.json()).data.items
}
