import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { provenFiles } from '../test/support/proven-files.ts'
import { ESSENTIAL, EXHAUSTIVE } from '../test/support/suites.ts'

/*
 * Runs the tests that every change must pass, with the linters beside them, since the processes of tests wait for each other
 * half of the time. It needs no service and no browser, and runs the same tests whether there are any or not.
 *
 * Of the files whose cases are a product it runs an eighth of the cases, which `TEST_SEED` chooses.
 *
 * `--rest` runs the others instead, and every case of these files, on the services that the environment names, and `--all`
 * runs both. `--ci` runs the rest without the heavy files that have passed since anything changed that they depend on. Other
 * arguments go to vitest.
 */

const root = fileURLToPath(new URL('../', import.meta.url))

/** Names a service, demands that none is missing, or allows a second try: for the rest alone. `test` has the seed. */
const OF_THE_REST = /^(?:TEST_(?!SEED$)|E2E_|REQUIRE_SERVICES$)/

const SERVICES = ['TEST_DATABASE_URL', 'TEST_REDIS_URL', 'TEST_S3_ENDPOINT']

interface Suite {
  readonly name: string
  readonly projects: readonly string[]
  /** The script of package.json that lints what this suite installs. */
  readonly lint: string
  readonly env: NodeJS.ProcessEnv
}

const essential: Suite = {
  name: 'test',
  projects: ['unit', 'unit:timers', 'essential'],
  lint: 'lint',
  env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !OF_THE_REST.test(name))),
}
const rest: Suite = {
  name: 'test:rest',
  projects: ['e2e:*', 'console', 'servers', 'exhaustive'],
  lint: 'lint:clients',
  env: process.env,
}

const unproven: Suite = { ...rest, name: 'test:ci', env: { ...process.env, TEST_ONLY_UNPROVEN: '1' } }

const [option, ...others] = process.argv.slice(2)
const chosen = { '--all': [essential, rest], '--rest': [rest], '--ci': [unproven] }[option ?? '']
const passedOn = chosen === undefined ? process.argv.slice(2) : others
if (option === '--ci') {
  console.log('Left out, because they have passed and nothing has changed since that they depend on:')
  console.log(provenFiles().join('\n') || 'no file')
}
for (const suite of chosen ?? [essential]) {
  if (!(await passes(suite))) process.exitCode = 1
}
if (chosen === undefined) sayWhatDidNotRun()

async function passes({ name, projects, lint, env }: Suite): Promise<boolean> {
  const linted = passesLint(lint)
  const args = ['run', ...projects.flatMap((project) => ['--project', project]), ...passedOn]
  const tests = spawn(`${root}node_modules/.bin/vitest`, args, { cwd: root, env, stdio: 'inherit' })
  const [code] = (await once(tests, 'close')) as [number | null]
  const isClean = await linted
  console.log(isClean ? `${lint}: nothing found` : `${lint}: failed, see above`)
  const hasPassed = code === 0 && isClean
  console.log(`${name}: ${hasPassed ? 'passed' : 'failed'}`)
  return hasPassed
}

/** Prints what the linters have found in one piece, and as soon as it is known. */
async function passesLint(script: string): Promise<boolean> {
  const child = spawn(`pnpm run ${script} 2>&1`, {
    cwd: root,
    shell: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const closed = once(child, 'close')
  const output = await text(child.stdout)
  const [code] = (await closed) as [number | null]
  if (code !== 0) console.error(`\n${output}`)
  return code === 0
}

function sayWhatDidNotRun(): void {
  const files = globSync('test/**/*.test.ts', { cwd: root, exclude: ['**/node_modules'] })
  const left = files.filter((file) => !ESSENTIAL.includes(file))
  const folders = Map.groupBy(left, (file) => file.split('/').slice(0, 2).join('/'))
  const counts = [...folders].map(([folder, { length }]) => `${folder} ${length}`).sort()
  console.log(`
Not run: ${left.length} files of scenarios (${counts.join(', ')}), the tests on PostgreSQL, Redis and S3, and
seven eighths of the cases of ${EXHAUSTIVE.length} files.
\`npx -y pnpm@12 test:all\` runs them too, after installing what they need (1.4 GB). It skips what needs a service or a program
that is missing: set ${SERVICES.join(', ')} (docs/contributing/commands.md), or use .ci/run, which starts them.`)
}
