import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'

/*
 * Builds the console into `apps/console/dist/current`, unless nothing that it is made of has changed since the last time:
 * `files` is what the gateway serves, with compressed copies, `persisted-documents.json` has the GraphQL documents that they
 * send, and `modules.json` names the modules that they are made of.
 *
 * With `--optional`, as in `start`, a failure is printed and the exit code is 0: programs that call the gateway do not need
 * its page, so a page that cannot be built, for example where Vite is not installed, is no reason to refuse their calls. The
 * last build that succeeded, if there is one, stays and is served.
 */

const root = fileURLToPath(new URL('../../../', import.meta.url))
const app = join(root, 'apps/console')
const dist = join(app, 'dist')
const current = join(dist, 'current')

/** What a build depends on. The lockfile stands for all packages. */
const SOURCES = [
  'apps/console/**/*',
  'packages/sdk/{src/**/*,package.json}',
  'tsconfig.json',
  'pnpm-lock.yaml',
]
const NO_SOURCE = /(?:^|\/)(?:node_modules|apps\/console\/dist)(?:\/|$)/
/** A build takes seconds, so a folder of this age was left by one that was interrupted. */
const LEFT_BEHIND_MS = 3_600_000

const { values } = parseArgs({ options: { optional: { type: 'boolean' } } })
const wanted = hashOfSources()
if (!isCurrent()) {
  process.stdout.write('Building the console … ')
  try {
    await buildConsole()
    console.log(`${(performance.now() / 1000).toFixed(1)} s`)
  } catch (error) {
    console.log('failed')
    console.error(error instanceof Error ? error.message : error)
    const kept = existsSync(current) ? 'The last build of the console is kept.' : 'There is no console.'
    console.error(`The console could not be built. ${kept}`)
    if (values.optional !== true) process.exitCode = 1
  }
}

/**
 * Builds beside the current build and replaces it at the end, so that an interrupted build leaves no half of a console. Two
 * processes may build at once: the second finds the build of the first and discards its own.
 */
async function buildConsole(): Promise<void> {
  removeLeftBehind()
  const building = join(dist, `building-${process.pid}`)
  const replaced = join(dist, `replaced-${process.pid}`)
  mkdirSync(building, { recursive: true })
  try {
    const modules = await bundle(join(building, 'files'))
    await writeFile(
      join(building, 'modules.json'),
      JSON.stringify(modules.map((id) => relative(root, id)).sort()),
    )
    await compress(join(building, 'files'))
    await writeFile(join(building, 'persisted-documents.json'), JSON.stringify(await readDocuments()))
    await writeFile(join(building, 'stamp'), wanted)
    if (isCurrent()) return
    if (existsSync(current)) renameSync(current, replaced)
    renameSync(building, current)
  } finally {
    for (const folder of [building, replaced]) rmSync(folder, { recursive: true, force: true })
  }
}

/** Returns the ids of the modules that the files are made of, which are paths except for those that the bundler makes up. */
async function bundle(outDir: string): Promise<string[]> {
  // Another value, such as that of a test runner, would build React for development.
  process.env.NODE_ENV = 'production'
  const { build } = await import('vite')
  const modules: string[] = []
  await build({
    root: app,
    logLevel: 'error',
    build: { outDir, reportCompressedSize: false },
    plugins: [
      {
        name: 'list of modules',
        generateBundle() {
          modules.push(...this.getModuleIds())
        },
      },
    ],
  })
  return modules
}

/** Stores what gets smaller in both codings as well, so that the gateway compresses nothing while it serves. */
async function compress(folder: string): Promise<void> {
  const codings = [
    ['.br', promisify(brotliCompress)],
    ['.gz', promisify(gzip)],
  ] as const
  const texts = globSync('**/*.{html,js,css,json,svg,txt,webmanifest}', { cwd: folder })
  const tasks = texts.flatMap((name) =>
    codings.map(async ([ending, code]) => {
      const text = await readFile(join(folder, name))
      const coded = await code(text)
      if (coded.length < text.length) await writeFile(join(folder, name + ending), coded)
    }),
  )
  await Promise.all(tasks)
}

/**
 * The documents as the console sends them, by hash. The list of codegen would have them normalized, which suits clients that
 * send the hash alone.
 */
async function readDocuments(): Promise<Record<string, string>> {
  const generated = join(app, 'src/generated/graphql.ts')
  const { TypedDocumentString, ...others } = await import(pathToFileURL(generated).href)
  const texts = Object.values(others)
    .filter((value) => value instanceof TypedDocumentString)
    .map(String)
  return Object.fromEntries(texts.map((text) => [createHash('sha256').update(text).digest('hex'), text]))
}

function hashOfSources(): string {
  const hash = createHash('sha256')
  const files = SOURCES.flatMap((pattern) =>
    globSync(pattern, { cwd: root, exclude: (path) => NO_SOURCE.test(path.replaceAll('\\', '/')) }),
  )
  for (const file of files.sort()) {
    const path = join(root, file)
    if (statSync(path).isFile()) hash.update(`${file}\0`).update(readFileSync(path)).update('\0')
  }
  return hash.digest('hex')
}

function isCurrent(): boolean {
  const stamp = join(current, 'stamp')
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted
}

function removeLeftBehind(): void {
  for (const name of globSync('{building,replaced}-*', { cwd: dist })) {
    const folder = join(dist, name)
    if (Date.now() - statSync(folder).mtimeMs > LEFT_BEHIND_MS)
      rmSync(folder, { recursive: true, force: true })
  }
}
