import type { Command } from 'commander'
import type { CommandResult } from '#process/commands.ts'
import { type JsonOption, run, withJson } from './context.ts'
import { printJson, printProperties, printRecords } from './output.ts'

export function addEndUserCommands(program: Command): void {
  const endUsers = program.command('end-users').description('manage the end users that calls name')

  withJson(endUsers.command('erase'))
    .description(
      'erase an end user, at the platforms and here; repeat it while it exits with 1, until it is complete',
    )
    .argument('<name>', 'the end user, by the name that its calls gave')
    .requiredOption('--owner <username>', 'the user to whom the API keys of the calls belong')
    .action(async (endUser: string, { owner, json }: JsonOption & { readonly owner: string }) => {
      const erased = await run('end-users erase', { endUser, owner })
      if (json) printJson(erased)
      else print(erased)
      if (!erased.complete) process.exitCode = 1
    })
}

function print({ agents, ...erased }: CommandResult<'end-users erase'>): void {
  printProperties(erased)
  printRecords(agents, { columns: ['all'] }, { columns: [], none: 'There was no conversation.' })
}
