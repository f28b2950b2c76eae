import { describeMetrics, type MetricDescription } from '../apps/gateway/src/ops/metrics/describe-metrics.ts'
import { markdownTable } from './generated-parts.ts'

/** The parts of the reference, with the beginnings of the names that stand there. Names with none of them are in the last. */
const PARTS = {
  'calls and their agents': [
    'trunkline_call',
    'trunkline_attempts',
    'trunkline_agent_',
    'trunkline_breaker',
    'trunkline_tokens',
    'trunkline_replies',
  ],
  'models and platforms': ['gen_ai_'],
  'requests and refusals': [
    'trunkline_http',
    'trunkline_refus',
    'trunkline_unavailable',
    'trunkline_sdk',
    'trunkline_graphql',
    'trunkline_connections',
    'trunkline_idle_connections',
  ],
  uploads: ['trunkline_upload'],
  'ledger and database': [
    'trunkline_ledger',
    'trunkline_settle',
    'trunkline_oldest',
    'trunkline_usage',
    'trunkline_database',
    'trunkline_disk',
    'trunkline_data_dir',
    'trunkline_embedded',
    'trunkline_limit_store',
  ],
  'the runtime': ['trunkline_process_', 'trunkline_nodejs_'],
  'the process': [],
} as const satisfies Record<string, readonly string[]>

type Part = keyof typeof PARTS

/** What prom-client shows on Linux alone; the page says so, and is the same wherever it is written. */
const ON_LINUX_ONLY = ['heap_bytes', 'virtual_memory_bytes', 'open_fds', 'max_fds'].map(
  (name) => `trunkline_process_${name}`,
)

/** How the values of workers become one, in words. */
const OF_WORKERS: Readonly<Record<string, string>> = {
  max: 'the largest',
  min: 'the smallest',
  average: 'the mean',
  first: 'one of them',
  omit: 'absent',
}

/** The tables of docs/metrics.md. */
export async function metricsReference(): Promise<Record<string, string>> {
  const metrics = (await describeMetrics()).filter(({ name }) => !ON_LINUX_ONLY.includes(name))
  const byPart = Map.groupBy(metrics, partOf)
  return Object.fromEntries(Object.keys(PARTS).map((part) => [part, table(byPart.get(part as Part) ?? [])]))
}

function partOf({ name }: MetricDescription): Part {
  const parts = Object.entries(PARTS) as [Part, readonly string[]][]
  const found = parts.find(([, beginnings]) => beginnings.some((beginning) => name.startsWith(beginning)))
  return found?.[0] ?? 'the process'
}

function table(metrics: readonly MetricDescription[]): string {
  const rows = metrics.map(({ name, type, labels, help, aggregator }) => [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(', '),
    OF_WORKERS[aggregator] ?? aggregator,
    help,
  ])
  return markdownTable(['Metric', 'Type', 'Labels', 'Of workers', 'Meaning'], rows)
}
