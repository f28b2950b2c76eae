import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { type BenchOptions, type Scenario, Stage } from './stage.ts'

/** Each is the `bench` of a file in `scenarios`, loaded only when it runs, so that no process carries the modules of another. */
const SCENARIOS = {
  calls: 'a call, beside a bare pass-through',
  streams: 'memory and chunks of thousands of open streams, beside a bare pass-through',
  neighbours: 'chats of one tenant beside the heavy requests of another, on both databases',
  ledger: 'admissions and settlements in PostgreSQL, by the number of calls at a time',
  'kept-calls':
    'how soon kept calls stop in another process, and the CPU of kept streams (--only for one part)',
  keys: 'rotations, pauses and addresses in four processes, and long unused ones of a million keys (--only for one part)',
  usage: 'reports, pages and verification with 10 million calls (a quarter of an hour)',
  uploads: 'memory of ten uploads of 1 GiB at once (10 GiB of disk; S3 by TEST_S3_*)',
  release: 'rolling updates from one checkout to another and back, behind two proxies (40 minutes)',
  resilience: 'what a platform that fails costs other calls (--only for one part)',
  sdk: "throughput of the SDK's stream reader, beside the openai package's",
} as const
type ScenarioName = keyof typeof SCENARIOS
const DEFAULT: readonly ScenarioName[] = ['calls', 'streams']

const OPTIONS = {
  help: { type: 'boolean', summary: 'print this' },
  quick: { type: 'boolean', summary: 'fewer rounds or less data, for coarser figures' },
  calls: { type: 'string', of: ['usage', 'calls'], summary: 'the number of calls in the ledger' },
  keep: { type: 'boolean', of: ['usage'], summary: 'keep the database, and print its URL' },
  postgres: { type: 'boolean', of: ['neighbours'], summary: 'on PostgreSQL alone' },
  embedded: { type: 'boolean', of: ['neighbours', 'calls'], summary: 'on the embedded database alone' },
  grown: {
    type: 'boolean',
    of: ['calls'],
    summary: 'with 10 million calls, 100,000 keys, 1,000 agents, 50 deployments (20 minutes)',
  },
  from: {
    type: 'string',
    of: ['calls', 'release', 'resilience'],
    summary: 'the checkout to start with or to compare with; calls and resilience take a commit as well',
  },
  to: {
    type: 'string',
    of: ['release'],
    summary: 'the checkout to go to and come back from; the default is this one',
  },
  rolls: { type: 'string', of: ['release'], summary: 'how often there and back; 10 by default' },
  streams: {
    type: 'string',
    of: ['release'],
    summary: 'how many streams are open behind each proxy; 300 by default',
  },
  only: {
    type: 'string',
    of: ['resilience', 'kept-calls', 'keys'],
    summary: 'one part, such as hang or stops',
  },
  seconds: {
    type: 'string',
    of: ['resilience'],
    summary: 'how long the platform hangs in all; 60 by default',
  },
} as const satisfies Record<
  string,
  { type: 'boolean' | 'string'; of?: readonly ScenarioName[]; summary: string }
>

const HELP = `pnpm bench [<scenario> ...] [options]

Scenarios (without one: ${DEFAULT.join(' and ')}):
${Object.entries(SCENARIOS)
  .map(([name, summary]) => line(name, summary))
  .join('\n')}

Options:
${Object.entries(OPTIONS)
  .map(([name, option]) =>
    line(`--${name}`, 'of' in option ? `${option.of.join(', ')}: ${option.summary}` : option.summary),
  )
  .join('\n')}

All but sdk need PostgreSQL (BENCH_DATABASE_URL, TEST_DATABASE_URL or the local server). Those that start a gateway
need Linux, two cores and taskset.`

function line(name: string, summary: string): string {
  return `  ${name.padEnd(20)}${summary}`
}

const { names, options } = readArguments()
const stage = new Stage(options)
process.once('SIGINT', () => stage.clear().finally(() => process.exit(130)))
process.once('SIGTERM', () => stage.clear().finally(() => process.exit(143)))
console.log(`${cpus()[0]?.model}, ${cpus().length} cores; Node ${process.versions.node}.`)
for (const name of names) {
  const { bench }: { bench: Scenario } = await import(`./scenarios/${name}.ts`)
  await bench(stage).finally(() => stage.clear())
}

function readArguments(): { names: readonly ScenarioName[]; options: BenchOptions } {
  try {
    const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true })
    const { help, ...options } = values
    if (help) end(HELP, 0)
    const names = positionals.length === 0 ? DEFAULT : positionals.map(requireScenario)
    for (const option of Object.keys(options)) requireOptionOf(names, option)
    return { names, options }
  } catch (error) {
    return end(`${error instanceof Error ? error.message : error}\n\n${HELP}`, 1)
  }
}

function requireScenario(name: string): ScenarioName {
  const known = Object.keys(SCENARIOS).find((each): each is ScenarioName => each === name)
  if (known === undefined) throw new Error(`There is no scenario ${name}.`)
  return known
}

function requireOptionOf(names: readonly ScenarioName[], option: string): void {
  for (const [name, known] of Object.entries(OPTIONS)) {
    const of: readonly ScenarioName[] = 'of' in known ? known.of : names
    if (name === option && !of.some((each) => names.includes(each)))
      throw new Error(`--${option} is an option of ${of.join(' and ')}.`)
  }
}

function end(text: string, code: number): never {
  console.log(text)
  process.exit(code)
}
