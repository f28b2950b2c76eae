import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Kind } from '@trunkline/gateway/src/resources/define/resource.ts'
import { buildSchema, type GraphQLObjectType } from 'graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'

// A process, because the commands that the page names are run in a copy of the sources.

const ROOT = join(import.meta.dirname, '../..')
const PAGE = 'docs/contributing/a-field-and-a-resource.md'
const run = promisify(execFile)

/** How a field of each kind is made, the type and the value that core has of it, and what a record has if that is another. */
const KINDS: Readonly<Record<Kind, readonly [make: string, type: string, value: string, record?: string]>> = {
  id: ["id('It.')", 'string', "'1'"],
  localId: ["localId('It.')", 'string', "'eu'"],
  text: ["text('It.')", 'string', "'word'"],
  texts: ["texts('It.')", 'string[]', "['word']"],
  words: ["words(CALL_FACE, 'It.')", 'string', "'rest'"],
  'word list': ["wordList(CALL_FACE, 'It.')", 'string[]', "['rest']"],
  integer: ["integer('It.')", 'number', '1'],
  number: ["number('It.')", 'number', '0.5'],
  large: ["large('It.', 0)", 'number', '1'],
  flag: ["flag('It.')", 'boolean', 'true'],
  time: ["time('It.')", 'Date', 'new Date(0)', "'1970-01-01T00:00:00.000Z'"],
  json: ["json('It.')", 'string', `'{"a":1}'`, '{ a: 1 }'],
  key: ["key('It.', 'The key.')", 'string', "'1'"],
  user: ["user('It.', 'The user.')", 'string', "'1'"],
  call: ["call('It.', 'The call.')", 'string', "'1'"],
  agent: ["agent('It.', 'The agent.')", 'string', "'dify'"],
  name: ["name('It.')", 'string', "'eu'"],
  object: ["object(PART, 'It.')", '{ n: number }', '{ n: 1 }'],
  objects: ["objects(PART, 'It.')", '{ n: number }[]', '[{ n: 1 }]'],
}
/** What GraphQL has of a field in place of its name. */
const IN_GRAPHQL: Partial<Record<Kind, readonly string[]>> = {
  localId: ['refusalId'],
  agent: ['agentAdded', 'agentAddedId'],
  name: ['nameAddedId'],
  key: ['keyAdded', 'keyAddedId'],
  user: ['userAdded', 'userAddedId'],
  call: ['callAdded', 'callAddedId'],
}
const FIELDS = Object.entries(KINDS).map(([kind, [make, type, value, record = value]]) => {
  const name = `${kind.replace(' l', 'L')}Added${['key', 'user', 'call'].includes(kind) ? 'Id' : ''}`
  const column = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return { name, column, inGraphql: IN_GRAPHQL[kind as Kind] ?? [name], make, type, value, record }
})
const lines = (line: (field: (typeof FIELDS)[number]) => string) => FIELDS.map(line).join('\n')

let copy: string
const textOf = (path: string) => readFile(join(copy, path), 'utf8')
const node = (...args: string[]) =>
  run(process.execPath, ['--conditions=@trunkline/source', ...args], { cwd: copy })

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'trunkline-field-'))
  const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    maxBuffer: 1e8,
  })
  const files = stdout.split('\0').filter((file) => file !== '' && existsSync(join(ROOT, file)))
  const folders = new Set(files.map((file) => dirname(file)))
  await Promise.all([...folders].map((folder) => mkdir(join(copy, folder), { recursive: true })))
  await Promise.all(files.map((file) => copyFile(join(ROOT, file), join(copy, file))))
  for (const folder of folders) {
    const installed = join(ROOT, folder, 'node_modules')
    if (existsSync(installed)) await symlink(installed, join(copy, folder, 'node_modules'))
  }
  for (const [, path = '', block = ''] of (await textOf(PAGE)).matchAll(
    /^```\w+ (\S+)\n((?:.*\n)*?)```$/gm,
  )) {
    if (path.endsWith('.ts') && !existsSync(join(copy, path))) await writeFile(join(copy, path), block)
    else for (const hunk of block.split('...\n')) await replace(path, before(hunk), after(hunk))
  }
  await addKinds()
  await node('scripts/print-contract.ts')
  await node('scripts/generate.ts')
})
afterAll(() => rm(copy, { recursive: true, force: true }))

const without = (sign: string) => (hunk: string) =>
  hunk.replaceAll(new RegExp(`^\\${sign}.*\\n`, 'gm'), '').replaceAll(/^[ +-]/gm, '')
const before = without('+')
const after = without('-')

async function replace(path: string, old: string, text: string): Promise<void> {
  const parts = (await textOf(path)).split(old)
  expect([path, old, parts.length]).toEqual([path, old, 2])
  await writeFile(join(copy, path), parts.join(text))
}

/** Refusals get a field of each kind. */
async function addKinds(): Promise<void> {
  const core = 'apps/gateway/src/core/reports/refusals/refusals.ts'
  const definition = 'apps/gateway/src/resources/refusal.ts'
  const part = `const PART = defineResource<{ n: number }>()('Part', 'A part.', { n: kind.integer('It.') })\n`
  await replace(
    core,
    'extends RefusalRow {\n',
    `extends RefusalRow {\n${lines(({ name, type }) => `${name}: ${type}`)}\n`,
  )
  await replace(
    core,
    '...row, cursor:',
    `...row, ${lines(({ name, value }) => `${name}: ${value},`)} cursor:`,
  )
  await replace(definition, 'export const REFUSAL = ', `${part}export const REFUSAL = `)
  await replace(
    definition,
    '    status: integer(',
    `${lines(({ name, make }) => `${name}: kind.${make},`)}    status: integer(`,
  )
  await replace(
    definition,
    "    limit_of: 'key',\n",
    `    limit_of: 'key',\n${lines(({ column, record }) => `${column}: ${record},`)}`,
  )
  await replace(
    definition,
    'import { defineResource }',
    "import * as kind from './define/fields.ts'\nimport { defineResource }",
  )
}

test('a field of every kind that is added to a definition is on every interface, and so is a column that the page adds', async () => {
  const columns = ['recorded_at', ...FIELDS.map(({ column }) => column)]
  const { components } = JSON.parse(await textOf('openapi.json'))
  expect(Object.keys(components.schemas.Refusal.properties)).toEqual(expect.arrayContaining(columns))
  const type = buildSchema(await textOf('schema.graphql')).getType('Refusal') as GraphQLObjectType
  const inGraphql = FIELDS.flatMap(({ inGraphql }) => inGraphql)
  expect(Object.keys(type.getFields())).toEqual(expect.arrayContaining(['recordedAt', ...inGraphql]))
  const row = `{ recordedAt: null, ${lines(({ name, value }) => `${name}: ${value},`)} }`
  const program = `import { REFUSAL } from './apps/gateway/src/resources/refusal.ts'
    console.log(JSON.stringify([REFUSAL.columns, REFUSAL.record(${row}), { ${lines(({ column, record }) => `${column}: ${record},`)} }]))`
  const [header, record, expected] = JSON.parse((await node('--input-type=module', '-e', program)).stdout)
  expect(header).toEqual(expect.arrayContaining(columns))
  expect(record).toMatchObject({ ...expected, recorded_at: null })
  const wire = await textOf('packages/sdk/src/generated/wire.ts')
  for (const column of columns) expect(wire).toContain(`${column}:`)
  expect(await textOf('apps/console/src/generated/fields.ts')).toContain('recordedAt: ')
})

test('the resource of the page has a route, a field of GraphQL, a command and types of the SDK', async () => {
  const { paths } = JSON.parse(await textOf('openapi.json'))
  const parameters = paths['/api/v1/changes'].get.parameters.map(({ name }: { name: string }) => name)
  expect(parameters).toEqual(expect.arrayContaining(['user_id', 'from', 'to', 'cursor', 'format']))
  expect(await textOf('schema.graphql')).toMatch(/^ {2}changes\(/m)
  expect(await textOf('docs/command-line.md')).toMatch(/## `trunkline changes`[^#]*`--user <username>`/)
  expect(await textOf('packages/sdk/src/generated/records.ts')).toContain('  Change,')
})

test('the copy with both has no error of types', async () => {
  const config = {
    extends: './tsconfig.json',
    include: ['apps/gateway/src', 'packages/sdk/src'],
    exclude: ['**/*.test.ts', '**/*.test-support.ts', 'apps/gateway/src/generated'],
  }
  await writeFile(join(copy, 'tsconfig.copy.json'), JSON.stringify(config))
  const { stdout } = await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.copy.json'], {
    cwd: copy,
  }).catch((error) => error)
  expect(stdout).toBe('')
})
