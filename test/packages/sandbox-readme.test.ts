import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startSandbox } from '@trunkline/sandbox'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { namedExamples, typeErrors, writeExamples } from '../support/examples.ts'
import { type PackedPackage, packPackage } from '../support/packed-package.ts'

// A process, because readers copy the examples beside an installed package and run them.

const run = promisify(execFile)
const readme = await readFile(join(import.meta.dirname, '../../packages/sandbox/README.md'), 'utf8')
const EXAMPLES = namedExamples(readme)

let sandbox: PackedPackage
let home: string
beforeAll(async () => {
  sandbox = await packPackage('sandbox')
  home = await writeExamples(sandbox.project, EXAMPLES)
})
afterAll(async () => {
  await sandbox?.remove()
})

test("the examples of the sandbox's README have the types of the package", async () => {
  expect(await typeErrors(home)).toBe('')
})

test.each([...EXAMPLES.keys()])("the example %s of the sandbox's README runs", async (name) => {
  const { stdout } = await run(process.execPath, ['--test', name], { cwd: home })
  expect(stdout).toMatch(/ pass [1-9]\d*\n.* fail 0\n/s)
})

test('the configuration of a gateway in front has the entries that the emulators tell', async () => {
  const running = await startSandbox()
  const [, config = ''] = /^```yaml\n(.*?)^```/ms.exec(readme) ?? []
  const { agents } = parse(config) as { agents: Record<string, Record<string, unknown>> }
  const path = (url: unknown) => new URL(String(url)).pathname
  const written = Object.values(agents).map((entry) => ({ ...entry, baseUrl: path(entry.baseUrl) }))
  const told = Object.entries(running.agents).map(([platform, { baseUrl, apiKey, options }]) => {
    return { platform, baseUrl: path(baseUrl), apiKey, ...options }
  })
  await running.close()
  expect(written).toEqual(told)
})
