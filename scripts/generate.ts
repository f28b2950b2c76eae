import { execFile } from 'node:child_process'
import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { generate as generateDocuments } from '@graphql-codegen/cli'
import { stripIgnoredCharacters } from 'graphql'
import { writeLists } from '../apps/console/scripts/write-lists.ts'
import { writeValidators } from '../apps/console/scripts/write-validators.ts'
import codegen from '../codegen.ts'

/*
 * Writes the generated sources, which are committed so that the gateway and its console start without the generators: the
 * Prisma client and the types that Pothos derives from it, the typed documents of the examples and of the console, the
 * conditions and fields of its lists, and the functions with which it checks its forms.
 *
 * With `--check` nothing is written, and the exit code is 1 where a committed file differs from what would be.
 *
 * They are written beside the committed ones, and only files that differ are replaced, each in one step: a gateway that starts
 * from the same checkout in the meantime finds every file.
 */

const root = fileURLToPath(new URL('../', import.meta.url))
const FOLDERS = [
  'apps/gateway/src/generated',
  'apps/console/src/generated',
  'examples/generated',
  'examples/react/generated',
]
const run = promisify(execFile)

const { values } = parseArgs({ options: { check: { type: 'boolean' } } })
// Codegen reads and writes relative to the current directory.
process.chdir(root)
await mkdir(join(root, 'node_modules/.cache'), { recursive: true })
const target = await mkdtemp(join(root, 'node_modules/.cache/generated-'))
try {
  await generate(target)
  const stale = await differences(target)
  if (values.check === true) {
    for (const file of stale) console.error(`${file} is not what \`pnpm generate\` writes`)
    if (stale.length > 0) process.exitCode = 1
  } else {
    for (const file of stale) await replace(file, target)
  }
} finally {
  await rm(target, { recursive: true, force: true })
}

/** Replaces a file by the one that was written beside it, or removes it if none was. */
async function replace(file: string, target: string): Promise<void> {
  if ((await textOf(target, file)) === undefined) return await rm(join(root, file), { force: true })
  const path = join(root, file)
  await mkdir(dirname(path), { recursive: true })
  // First copied, since the cache may be on another file system; under a name of its own, since two may run at once.
  const copy = `${path}.${process.pid}`
  await copyFile(join(target, file), copy)
  await rename(copy, path)
}

async function generate(target: string): Promise<void> {
  await Promise.all([generatePrismaClient(target), generateTypedDocuments(target)])
  await writeValidators(join(target, 'apps/console/src/generated'))
  await writeLists(join(target, 'apps/console/src/generated'))
}

async function generatePrismaClient(target: string): Promise<void> {
  const schema = join(target, 'prisma/schema.prisma')
  // The schema names the folders of the generated sources relative to itself.
  await cp(join(root, 'prisma/schema.prisma'), schema)
  const tools = join(root, 'tools/prisma')
  const manifest = createRequire(join(tools, 'package.json')).resolve('prisma/package.json')
  const { bin } = JSON.parse(await readFile(manifest, 'utf8')) as { bin: { prisma: string } }
  const cli = join(manifest, '..', bin.prisma)
  await run(process.execPath, [cli, 'generate', '--no-hints', '--schema', schema], {
    cwd: target,
    env: {
      ...process.env,
      // Prisma starts other generators by their name.
      PATH: [join(root, 'apps/gateway/node_modules/.bin'), process.env.PATH].join(delimiter),
      // Prisma requires a schema engine before any command and would download one, although `generate` never runs it.
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      CHECKPOINT_DISABLE: '1',
    },
  })
}

async function generateTypedDocuments(target: string): Promise<void> {
  const generates = Object.entries(codegen.generates).map(([path, options]) => [join(target, path), options])
  await generateDocuments(
    { ...codegen, generates: Object.fromEntries(generates), silent: true, errorsOnly: true },
    true,
  )
  // The console takes its documents from graphql.ts, and its build lists them as it sends them.
  for (const unused of ['gql.ts', 'index.ts', 'persisted-documents.json'])
    await rm(join(target, 'apps/console/src/generated', unused))
  const file = join(target, 'apps/console/src/generated/graphql.ts')
  await writeFile(file, withoutLayout(await readFile(file, 'utf8')))
}

/** The same module with its documents on one line each: their layout would be loaded by every visitor and sent with every request. */
function withoutLayout(code: string): string {
  return code.replaceAll(/(?<=TypedDocumentString\()`([^`]*)`/g, (_, text: string) => {
    return `\`${stripIgnoredCharacters(text)}\``
  })
}

/** The files that are missing on one side or differ. */
async function differences(target: string): Promise<string[]> {
  const lists = await Promise.all(
    [root, target].flatMap((at) => FOLDERS.map((folder) => filesIn(join(at, folder), folder))),
  )
  const files = [...new Set(lists.flat())].sort()
  const isStale = async (file: string) => (await textOf(root, file)) !== (await textOf(target, file))
  const stale = await Promise.all(files.map(isStale))
  return files.filter((_, index) => stale[index])
}

async function filesIn(folder: string, name: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(name, entry.parentPath.slice(folder.length), entry.name))
}

function textOf(at: string, file: string): Promise<string | undefined> {
  return readFile(join(at, file), 'utf8').catch(() => undefined)
}
