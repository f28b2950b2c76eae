import type { Command } from 'commander'
import type { CommandArguments, CommandResult } from '#process/commands.ts'
import { REFUSAL_COUNTS, REFUSALS } from '#resources/refusal.ts'
import { type RecordOptions, run } from './context.ts'
import { addPagedList, withConditions, withRecords } from './list-command.ts'
import { printRecords } from './output.ts'

export function addRefusalCommands(program: Command): void {
  const refusals = program.command('refusals').description('inspect the requests that were refused')

  addPagedList(refusals.command('list'), 'refusals list', REFUSALS, {
    columns: [
      ...(['at', 'reason', 'limit'] as const),
      ['allowed', allowedBy],
      ...(['status', 'face', 'route', 'agent', 'field', 'key_id', 'request_id'] as const),
    ],
    none: 'There is no such refusal.',
  }).description('list refused requests of the last day, newest first: the first ones of each kind and hour')

  withConditions(withRecords(refusals.command('counts')), REFUSAL_COUNTS)
    .description('count refused requests by time, key, owner, agent, reason and limit')
    .action(async ({ json, columns, ...input }: RecordOptions & CommandArguments<'refusals counts'>) =>
      printRecords(
        await run('refusals counts', input),
        { json, columns },
        {
          columns: ['start', 'reason', 'limit', 'agent', 'key_id', 'owner_id', 'count'],
          none: 'No request was refused.',
        },
      ),
    )
}

type Refusal = CommandResult<'refusals list'>['items'][number]

/** What a rate limit allows and whose it is, such as `60 in 60 s (key)`. */
function allowedBy({ limit_points, limit_window_seconds, limit_of }: Refusal): string | undefined {
  return limit_points === null ? undefined : `${limit_points} in ${limit_window_seconds} s (${limit_of})`
}
