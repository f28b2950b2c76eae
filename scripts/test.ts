import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

/*
 * Runs everything that a change must pass: the linters beside the tests, whose processes wait for each other half of the time.
 * Arguments go to vitest.
 */

const root = fileURLToPath(new URL('../', import.meta.url))
const bin = `${root}node_modules/.bin/`

const linted = lint()
const tests = spawn(`${bin}vitest`, ['run', ...process.argv.slice(2)], { cwd: root, stdio: 'inherit' })
const [code] = (await once(tests, 'close')) as [number | null]
const isClean = await linted
console.log(isClean ? 'lint: nothing found' : 'lint: failed, see above')
process.exitCode = code === 0 && isClean ? 0 : 1

/** Prints what the linters have found in one piece, and as soon as it is known. */
async function lint(): Promise<boolean> {
  const child = spawn('pnpm run lint 2>&1', { cwd: root, shell: true, stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = once(child, 'close')
  const output = await text(child.stdout)
  const [code] = (await closed) as [number | null]
  if (code !== 0) console.error(`\n${output}`)
  return code === 0
}
