import { type Command, Option } from 'commander'
import { PROCESS_FILTERS } from '#core/ledger/process-list.ts'
import type { CommandResult } from '#process/commands.ts'
import { type JsonOption, run, withJson } from './context.ts'
import { type Column, columnsOf, printJson, printTable } from './output.ts'

export function addProcessesCommand(program: Command): void {
  withJson(program.command('processes'))
    .description('list the processes of the gateway that share the database, first those that live')
    .addOption(new Option('--state <state>', 'only those in this state').choices(PROCESS_FILTERS))
    .action(async ({ json, state }: JsonOption & { readonly state?: string }) => {
      const processes = await run('processes', { state })
      if (json) printJson(processes)
      else printTable(processes, COLUMNS, 'There is no such process.')
    })
}

type Process = CommandResult<'processes'>[number]

const COLUMNS: readonly Column<Process>[] = [
  ...columnsOf('id', 'state', 'host', 'pid', 'version'),
  ['started', (process) => process.started_at],
  ['last seen', (process) => process.last_seen_at],
  ['calls', (process) => process.calls_in_flight],
  ['breakers', breakersOf],
]

function breakersOf({ state, breakers }: Process): string | undefined {
  if (state !== 'live') return undefined
  return (
    breakers.map(({ agent, deployment, breaker }) => `${agent}/${deployment} ${breaker}`).join(', ') ||
    'closed'
  )
}
