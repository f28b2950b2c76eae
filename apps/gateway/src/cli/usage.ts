import type { Command } from 'commander'
import type { ReportInput } from '#core/reports/report-query.ts'
import type { CommandResult } from '#process/commands.ts'
import { type JsonOption, list, run, wholeNumber, withJson, withRange } from './context.ts'
import { addPagedList } from './list-command.ts'
import { type Column, printJson, printRecords, printTable } from './output.ts'

type ReportOptions = JsonOption & ReportInput & { readonly owner?: string }

export function addUsageCommands(program: Command): void {
  const usage = program.command('usage').description('report and inspect the counted usage')

  withConditions(withJson(usage.command('report')))
    .description('report usage: a line for each hour, day or month, or with --group-by for each group')
    .option('--granularity <length>', 'hour, day or month; day by default')
    .option(
      '--group-by <list>',
      'key, agent, app, model, user, end_user and outcome, separated by commas, or conversation with --agent',
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

  addPagedList(
    withConditions(calls.command('list')),
    'calls list',
    { of: { fields: {} }, conditions: {} },
    {
      columns: [
        ...(['id', 'admitted_at', 'kind', 'face', 'agent', 'app', 'deployment', 'model'] as const),
        ['outcome', (call) => call.outcome ?? 'running'],
        ...(['reason', 'paused', 'attempts', 'total_tokens', 'queued_ms', 'duration_ms'] as const),
      ],
      none: 'There is no such call.',
    },
  )
    .description('list calls, newest first')
    .option('--kind <kind>', 'chat or upload')
    .option('--face <face>', 'rest, openai, graphql or responses')
    .option('--deployment <id>', 'calls whose last request was sent to this deployment of the agent')
    .option('--reason <reason>', 'calls that failed or were refused for this reason, such as agent_timeout')
    .option('--paused', 'calls whose reply ended with a question to the user')
    .option('--first-chunk-ms-min <ms>', 'calls whose first text took at least this long', wholeNumber)
    .option('--duration-ms-min <ms>', 'calls that took at least this long', wholeNumber)
    .option('--total-tokens-min <count>', 'calls with at least this many tokens', wholeNumber)
    .option('--request-id <id>', 'calls of the request with this id')
    .option('--conversation <id>', 'calls of the conversation that the client names by this id')

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

function withConditions(command: Command): Command {
  return withRange(command)
    .option('--agent <id>', 'calls of this agent')
    .option('--app <id>', 'calls of this app')
    .option('--model <name>', 'calls for which the platform named this model')
    .option('--key-id <id>', 'calls of the API key with this id')
    .option('--owner <username>', 'calls of the API keys of this user')
    .option('--end-user <name>', 'calls of this end user')
    .option('--outcome <list>', 'outcomes, separated by commas; failed stands for all failures', list)
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
