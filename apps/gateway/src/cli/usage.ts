import type { Command } from 'commander'
import type { ReportInput } from '#core/reports/report-query.ts'
import type { CommandResult } from '#process/commands.ts'
import { CALLS } from '#resources/call.ts'
import { USAGE, USAGE_GROUP } from '#resources/usage.ts'
import { type JsonOption, list, run, withJson } from './context.ts'
import { addPagedList, withConditions } from './list-command.ts'
import { type Column, printJson, printRecords, printTable } from './output.ts'

type ReportOptions = JsonOption & ReportInput & { readonly owner?: string }

export function addUsageCommands(program: Command): void {
  const usage = program.command('usage').description('report and inspect the counted usage')

  withConditions(withJson(usage.command('report')), USAGE)
    .description('report usage: a line for each hour, day or month, or with --group-by for each group')
    .option('--granularity <length>', 'hour, day or month; day by default')
    .option(
      '--group-by <list>',
      `${USAGE_GROUP.words.join(', ')}, separated by commas; conversation alone and with --agent`,
      list,
    )
    .action(async ({ json, ...input }: ReportOptions) => {
      const report = await run('usage report', input)
      if (json) printJson(report)
      else printReport(report)
    })

  withJson(usage.command('verify'))
    .description(
      'check that counters, rollups and ledger agree, and that calls that have ended are settled; exit code 1 where not',
    )
    .action(async ({ json }: JsonOption) => {
      const drifts = await run('usage verify', {})
      if (json) printJson(drifts)
      else if (drifts.length === 0) console.log('Counters, rollups and ledger agree.')
      else printRecords(drifts, {}, { columns: ['equation', 'subject', 'expected', 'found'], none: '' })
      if (drifts.length > 0) process.exitCode = 1
    })
}

export function addCallCommands(program: Command): void {
  const calls = program.command('calls').description('inspect the ledger, and stop calls')

  addPagedList(calls.command('list'), 'calls list', CALLS, {
    columns: [
      ...(['id', 'admitted_at', 'kind', 'face', 'agent', 'app', 'deployment', 'model'] as const),
      ['outcome', (call) => call.outcome ?? 'running'],
      ...(['reason', 'paused', 'attempts', 'total_tokens', 'queued_ms', 'duration_ms'] as const),
    ],
    none: 'There is no such call.',
  }).description('list calls, newest first')

  withJson(calls.command('stop'))
    .description('stop a running call at its platform, in whichever process it runs, within a second or so')
    .argument('<id>', 'id of the call')
    .action(async (id: string, { json }: JsonOption) => {
      const stopped = await run('calls stop', { id })
      if (json) printJson(stopped)
      else if (stopped.outcome === null) console.log('The call is being stopped.')
      else console.log(`The call had already ended: ${stopped.outcome}.`)
    })
}

type ReportRecord = CommandResult<'usage report'>

function printReport({ group_by: groupBy, groups, totals }: ReportRecord): void {
  const grouped = groups.map(({ group, totals }) => ({
    ...totals,
    name: groupBy.map((name) => group[name] || '-'),
  }))
  const points = (groups[0]?.points ?? []).map(({ start, ...metrics }) => ({ ...metrics, name: [start] }))
  const headings = groupBy.length === 0 ? ['start'] : groupBy
  const rows: ReportLine[] = groupBy.length === 0 ? points : grouped
  const total = { ...totals, name: ['total'] }
  printTable([...rows, total], reportColumns(headings), '')
}

type ReportLine = ReportRecord['totals'] & { readonly name: readonly string[] }

function reportColumns(headings: readonly string[]): readonly Column<ReportLine>[] {
  return [
    ...headings.map((heading, index): Column<ReportLine> => [heading, ({ name }) => name[index]]),
    ['calls', (line) => line.calls],
    ['failed', (line) => line.failed_calls],
    ['tokens', (line) => line.total_tokens],
    ['p50 ms', (line) => line.duration_ms?.p50],
    ['p95 ms', (line) => line.duration_ms?.p95],
  ]
}
