import type { Command } from 'commander'
import type { CommandArguments, CommandResult } from '#process/commands.ts'
import { byWord } from '#resources/define/define-list.ts'
import { IN_STATE, PROCESS_FILTER } from '#resources/gateway-process.ts'
import { type JsonOption, type RecordOptions, run, withJson } from './context.ts'
import { withConditions, withRecords } from './list-command.ts'
import { printJson, printRecords, type Shown } from './output.ts'

export function addProcessesCommands(program: Command): void {
  withConditions(withRecords(program.command('processes')), {
    conditions: { state: byWord(PROCESS_FILTER, IN_STATE) },
  })
    .description('list the processes of the gateway that share the database, first those that live')
    .action(async ({ state, ...options }: RecordOptions & CommandArguments<'processes'>) =>
      printRecords(await run('processes', { state }), options, PROCESSES),
    )
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
  printRecords(processes, {}, { ...PROCESSES, none: 'No process runs.' })
}

type Process = CommandResult<'processes'>[number]

const PROCESSES: Shown<Process> = {
  columns: [
    ...(['id', 'state', 'host', 'port', 'pid', 'version'] as const),
    ...(['started_at', 'last_seen_at', 'calls_in_flight'] as const),
    ['breakers', breakersOf],
    ['configuration', configurationOf],
    ['concerns', concernsOf],
  ],
  none: 'There is no such process.',
}

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
