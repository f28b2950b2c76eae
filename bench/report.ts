import type { Pair, Round, Times } from './measure.ts'
import type { StreamCosts } from './measure-streams.ts'
import { median } from './quantile.ts'
import { CHUNK_APART_MS, TALKING } from './workload.ts'

export interface Results {
  readonly rounds: readonly Round[]
  /** Median times of a bare commit, one per round. */
  readonly commitsMs: readonly number[]
}

/** Goals that do not fail the bench. `docs/costs.md` records what each release reaches. */
const JSON_CPU_RATIO_MAX = 1.5
const CHUNK_CPU_RATIO_MAX = 1.3
const ADDED_BEYOND_COMMIT_MS_MAX = 1
const STREAM_KILOBYTES_MAX = 40

export const RULE = ['---', '---:', '---:', '---:', '---:', '---']

/** Formats the cost of calls as a Markdown table. */
export function callReport({ rounds, commitsMs }: Results): string {
  const commitMs = median(commitsMs)
  const time = (load: 'aloneMs' | 'busyMs', share: keyof Times) =>
    rounds.map((round) => ({
      passThrough: round[load].passThrough[share],
      gateway: round[load].gateway[share],
    }))
  return table([
    ['', 'pass-through', 'gateway', 'compared (least–most)', 'aim', 'reached'],
    RULE,
    cpuRow(
      'CPU a JSON call, 32 at a time',
      rounds.map((round) => round.jsonCpuUs),
      JSON_CPU_RATIO_MAX,
    ),
    cpuRow(
      'the same at /api/v1/chat, the turn kept',
      rounds.map((round) => round.keptCpuUs),
    ),
    cpuRow(
      'CPU a streamed chunk, 32 streams',
      rounds.map((round) => round.chunkCpuUs),
      CHUNK_CPU_RATIO_MAX,
    ),
    timeRow('p50, one at a time', time('aloneMs', 'p50'), commitMs + ADDED_BEYOND_COMMIT_MS_MAX),
    timeRow('p99, one at a time', time('aloneMs', 'p99')),
    timeRow('p50, 32 at a time', time('busyMs', 'p50')),
    timeRow('p99, 32 at a time', time('busyMs', 'p99')),
    ['a bare commit, p50', '', ms(commitMs), '', '', ''],
  ])
}

/** Formats the cost of open streams as a Markdown table. */
export function streamReport(costs: readonly StreamCosts[]): string {
  return table([
    [
      `streams open at once, ${TALKING} talking, chunks ${CHUNK_APART_MS} ms apart`,
      'pass-through',
      'gateway',
      'compared (least–most)',
      'aim',
      'reached',
    ],
    RULE,
    ...costs.flatMap((cost) => {
      const open = cost.open.toLocaleString('en')
      return [
        memoryRow(`memory a stream, ${open} open`, cost.kilobytes),
        cpuRow(`CPU a chunk, ${open} open`, cost.chunkCpuUs, CHUNK_CPU_RATIO_MAX),
        [
          'chunks a read',
          cost.chunksPerRead.passThrough.toFixed(2),
          cost.chunksPerRead.gateway.toFixed(2),
          '',
          '',
          '',
        ],
      ]
    }),
  ])
}

function memoryRow(name: string, { passThrough, gateway }: Pair<number>): string[] {
  return [
    name,
    `${passThrough.toFixed(1)} kB`,
    `${gateway.toFixed(1)} kB`,
    `× ${(gateway / passThrough).toFixed(2)}`,
    ...goal(gateway, STREAM_KILOBYTES_MAX, `${STREAM_KILOBYTES_MAX} kB`),
  ]
}

export function cpuRow(name: string, pairs: readonly Pair<number>[], ratioMax?: number): string[] {
  const ratios = pairs.map(({ passThrough, gateway }) => gateway / passThrough)
  const ratio = median(ratios)
  return [
    name,
    `${median(pairs.map(({ passThrough }) => passThrough)).toFixed(1)} µs`,
    `${median(pairs.map(({ gateway }) => gateway)).toFixed(1)} µs`,
    `× ${ratio.toFixed(2)} (${range(ratios)})`,
    ...goal(ratio, ratioMax, `× ${ratioMax}`),
  ]
}

function timeRow(name: string, pairs: readonly Pair<number>[], addedMsMax?: number): string[] {
  const added = pairs.map(({ passThrough, gateway }) => gateway - passThrough)
  const addedMs = median(added)
  return [
    name,
    ms(median(pairs.map(({ passThrough }) => passThrough))),
    ms(median(pairs.map(({ gateway }) => gateway))),
    `+ ${ms(addedMs)} (${range(added)})`,
    ...goal(addedMs, addedMsMax, `commit + 1 ms = ${ms(addedMsMax ?? 0)}`),
  ]
}

function goal(value: number, most: number | undefined, limit: string): [string, string] {
  return most === undefined ? ['', ''] : [`≤ ${limit}`, value <= most ? 'yes' : 'no']
}

function range(values: readonly number[]): string {
  return `${Math.min(...values).toFixed(2)}–${Math.max(...values).toFixed(2)}`
}

function ms(value: number): string {
  return `${value.toFixed(2)} ms`
}

export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`)
    .join('\n')
}
