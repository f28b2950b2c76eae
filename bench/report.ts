import type { Pair, Round, Times } from './measure.ts'
import { median } from './quantile.ts'

export interface Results {
  readonly rounds: readonly Round[]
  readonly streamKib: Pair<number>
  /** The medians of a bare commit, one a round. */
  readonly commitsMs: readonly number[]
}

const JSON_CPU_RATIO_MAX = 1.5
const CHUNK_CPU_RATIO_MAX = 1.3
const ADDED_BEYOND_COMMIT_MS_MAX = 1

/** One Markdown table. */
export function report({ rounds, streamKib, commitsMs }: Results): string {
  const commitMs = median(commitsMs)
  const time = (load: 'aloneMs' | 'busyMs', share: keyof Times) =>
    rounds.map((round) => ({
      passThrough: round[load].passThrough[share],
      gateway: round[load].gateway[share],
    }))
  return table([
    ['', 'pass-through', 'gateway', 'compared (least–most)', 'to reach', 'reached'],
    ['---', '---:', '---:', '---:', '---:', '---'],
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
    [
      'memory an open stream, of 1,000',
      `${streamKib.passThrough.toFixed(0)} KiB`,
      `${streamKib.gateway.toFixed(0)} KiB`,
      `× ${(streamKib.gateway / streamKib.passThrough).toFixed(2)}`,
      '',
      '',
    ],
    ['a bare commit, p50', '', ms(commitMs), '', '', ''],
  ])
}

function cpuRow(name: string, pairs: readonly Pair<number>[], ratioMax?: number): string[] {
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

function goal(value: number, most: number | undefined, told: string): [string, string] {
  return most === undefined ? ['', ''] : [`≤ ${told}`, value <= most ? 'yes' : 'no']
}

function range(values: readonly number[]): string {
  return `${Math.min(...values).toFixed(2)}–${Math.max(...values).toFixed(2)}`
}

function ms(value: number): string {
  return `${value.toFixed(2)} ms`
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`)
    .join('\n')
}
