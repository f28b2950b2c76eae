import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { clockAhead } from '../test/support/faked-clock.ts'

/*
 * Runs test files again and again, with every core kept busy and at different times of day, and reports which tests failed
 * how often:
 *
 *   test-flakes [--runs 20] [--at now|midnight|month] [file…]
 *
 * A third of the runs has the machine's clock. In another third midnight (UTC) passes during the run, and in the last one a
 * month ends, each time at another point of the run. Those are without the services that `TEST_*` names, whose clocks cannot
 * be changed, and without the tests of the console, since neither can the browser's.
 */

const DAY_MS = 86_400_000
/** The projects of `pnpm test`, which are repeated where no file is named. */
const OF_TEST = ['unit', 'unit:timers', 'essential']
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const TIMES = ['now', 'midnight', 'month'] as const
type Time = (typeof TIMES)[number]

interface Run {
  readonly time: Time
  /** How much of a run lies before midnight, as a share of the time that the first run took. */
  readonly share: number
}

interface Failure {
  readonly test: string
  readonly message: string
}

const root = fileURLToPath(new URL('../', import.meta.url))
const { runs, times, files } = asked()
const scratch = await mkdtemp(join(tmpdir(), 'trunkline-flakes-'))
const busy = Array.from({ length: availableParallelism() }, () => new Worker('for (;;);', { eval: true }))

const failures = new Map<string, { message: string; runs: Run[] }>()
let firstMs: number | undefined
let done = 0
for (const run of planned()) {
  const startedMs = performance.now()
  const failed = await failuresOf(run)
  done += 1
  const tookMs = performance.now() - startedMs
  firstMs ??= tookMs
  console.log(`${done}/${runs} ${run.time}: ${failed.length} failed in ${Math.round(tookMs / 1_000)} s`)
  for (const { test, message } of failed) {
    if (!failures.has(test)) console.log(`  ${test}: ${firstLineOf(message)}`)
    const known = failures.get(test) ?? { message, runs: [] }
    known.runs.push(run)
    failures.set(test, known)
  }
}
await Promise.all(busy.map((worker) => worker.terminate()))
await rm(scratch, { recursive: true })
report()

function asked() {
  const { values, positionals } = parseArgs({
    options: { runs: { type: 'string', default: '20' }, at: { type: 'string' } },
    allowPositionals: true,
  })
  const runs = Number(values.runs)
  if (!Number.isInteger(runs) || runs < 1) throw new Error('--runs: expected a whole number from 1')
  const times = values.at === undefined ? TIMES : TIMES.filter((time) => time === values.at)
  if (times.length === 0) throw new Error(`--at: expected one of ${TIMES.join(', ')}`)
  return { runs, times, files: positionals }
}

function planned(): Run[] {
  const kinds = Array.from({ length: runs }, (_, n) => times[n % times.length] ?? 'now')
  return kinds.map((time, n) => {
    const alike = kinds.filter((kind) => kind === time).length
    const before = kinds.slice(0, n).filter((kind) => kind === time).length
    return { time, share: (before + 0.5) / alike }
  })
}

async function failuresOf({ time, share }: Run): Promise<Failure[]> {
  const outputFile = join(scratch, `${done}.json`)
  const filter = files.length === 0 ? OF_TEST.flatMap((project) => ['--project', project]) : files
  const more = time === 'now' ? [] : ['--exclude', 'test/console/**']
  const reporting = ['--reporter=json', `--outputFile=${outputFile}`]
  const vitest = spawn(
    join(root, 'node_modules/.bin/vitest'),
    ['run', '--passWithNoTests', ...reporting, ...filter, ...more],
    { cwd: root, env: environment(time, share), stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const stop = () => {
    vitest.kill()
    process.exit(1)
  }
  for (const signal of SIGNALS) process.on(signal, stop)
  const closed = once(vitest, 'close')
  const printed = await Promise.all([text(vitest.stdout), text(vitest.stderr)])
  const [code] = await closed
  for (const signal of SIGNALS) process.off(signal, stop)
  const failed = await readFile(outputFile, 'utf8').then(failuresIn, (): Failure[] => [])
  // What fails outside a test, such as a rejection that nobody handles, is in no report.
  if (code !== 0 && failed.length === 0) failed.push({ test: 'the run itself', message: printed.join('\n') })
  return failed
}

function environment(time: Time, share: number): NodeJS.ProcessEnv {
  const own = { ...process.env, NO_COLOR: '1', TEST_RETRY: '0' }
  if (time === 'now' && files.length > 0) return own
  const withoutServices = Object.entries(own).filter(
    ([name]) => name !== 'REQUIRE_SERVICES' && !/^TEST_(DATABASE|REDIS|S3)_/.test(name),
  )
  const beforeMs = Math.round((firstMs ?? 20_000) * share)
  const clock = time === 'now' ? {} : clockAhead(msUntil(time) - beforeMs)
  return { ...Object.fromEntries(withoutServices), ...clock }
}

function msUntil(time: Exclude<Time, 'now'>): number {
  const now = new Date()
  if (time === 'midnight') return DAY_MS - (now.getTime() % DAY_MS)
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) - now.getTime()
}

/** The part of vitest's JSON report that is read here. */
interface Report {
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: readonly {
      readonly status: string
      readonly fullName: string
      readonly failureMessages?: readonly string[]
    }[]
  }[]
}

function failuresIn(json: string): Failure[] {
  const { testResults }: Report = JSON.parse(json)
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(root, name)
    const failed = assertionResults.filter((test) => test.status === 'failed')
    // Its tests have not run when a file cannot be loaded or prepared.
    if (failed.length === 0) return status === 'failed' ? [{ test: file, message }] : []
    return failed.map(({ fullName, failureMessages = [] }) => ({
      test: `${file} > ${fullName}`,
      message: failureMessages.join('\n'),
    }))
  })
}

function firstLineOf(message: string): string {
  return message.trim().split('\n', 1)[0] ?? ''
}

function report(): void {
  const found = [...failures].toSorted(([, one], [, other]) => other.runs.length - one.runs.length)
  for (const [test, { message, runs: failed }] of found) {
    const when = TIMES.map((time) => [time, failed.filter((run) => run.time === time).length] as const)
    const counts = when.filter(([, count]) => count > 0).map(([time, count]) => `${count} ${time}`)
    console.log(`\n${test}\n  failed in ${failed.length} of ${runs} runs (${counts.join(', ')}); at first:`)
    for (const line of message.trim().split('\n').slice(0, 20)) console.log(`    ${line}`)
  }
  if (found.length === 0) console.log(`nothing failed in ${runs} runs`)
  process.exitCode = found.length === 0 ? 0 : 1
}
