import { type Command, Option } from 'commander'
import { PROCESS_FILTERS } from '#core/ledger/process-list.ts'
import type { CommandResult } from '#process/commands.ts'
import { type JsonOption, run, withJson } from './context.ts'
import { type Column, columnsOf, printJson, printTable } from './output.ts'

export function addProcessesCommands(program: Command): void {
  withJson(program.command('processes'))
    .description('list the processes of the gateway that share the database, first those that live')
    .addOption(new Option('--state <state>', 'only those in this state').choices(PROCESS_FILTERS))
    .action(async ({ json, state }: JsonOption & { readonly state?: string }) => {
      const processes = await run('processes', { state })
      if (json) printJson(processes)
      else printTable(processes, COLUMNS, 'There is no such process.')
    })
  withJson(program.command('reload'))
    .description(
      'read the configuration file anew, in all processes that share the database, while calls run',
    )
    .action(async ({ json }: JsonOption) => {
      const reload = await run('reload', {})
      if (json) printJson(reload)
      else printReload(reload)
      if (reload.processes.some(({ configuration }) => configuration?.state !== 'current'))
        process.exitCode = 1
    })
}

function printReload({ changed, needs_restart, processes }: CommandResult<'reload'>): void {
  console.log(changed.length > 0 ? `Changed: ${changed.join(', ')}` : 'The file is as before.')
  if (needs_restart.length > 0) console.log(`Takes effect with the next start: ${needs_restart.join(', ')}`)
  printTable(processes, COLUMNS, 'No process runs.')
}

type Process = CommandResult<'processes'>[number]

const COLUMNS: readonly Column<Process>[] = [
  ...columnsOf('id', 'state', 'host', 'port', 'pid', 'version'),
  ['started', (process) => process.started_at],
  ['last seen', (process) => process.last_seen_at],
  ['calls', (process) => process.calls_in_flight],
  ['breakers', breakersOf],
  ['configuration', configurationOf],
  ['concerns', concernsOf],
]

function configurationOf({ configuration }: Process): string | undefined {
  if (configuration === null) return undefined
  const { state, error } = configuration
  return error === null ? state : `${state}: ${error}`
}

function concernsOf({ concerns }: Process): string | undefined {
  const described = concerns.map(({ concern, cause, since, count, blocked_by }) =>
    [
      [concern, cause].filter((word) => word !== null).join(' '),
      count !== null && `${count} calls or requests`,
      `since ${since}`,
      blocked_by !== null && `behind a lock of ${blocked_by}`,
    ]
      .filter(Boolean)
      .join(', '),
  )
  return described.join('; ') || undefined
}

function breakersOf({ state, breakers }: Process): string | undefined {
  if (state !== 'live') return undefined
  return (
    breakers.map(({ agent, deployment, breaker }) => `${agent}/${deployment} ${breaker}`).join(', ') ||
    'closed'
  )
}
