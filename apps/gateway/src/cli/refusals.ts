import type { Command } from 'commander'
import type { RefusalCountsInput } from '#core/reports/refusals/refusal-counts-query.ts'
import type { RefusalsInput } from '#core/reports/refusals/refusals-query.ts'
import type { CommandResult } from '#process/commands.ts'
import { COUNT_CONDITIONS, REFUSALS } from '#resources/refusal.ts'
import { type JsonOption, type PageOptions, run, withConditions, withJson, withPage } from './context.ts'
import { type Column, columnsOf, printJson, printPage, printTable } from './output.ts'

type ListOptions = PageOptions & RefusalsInput & { readonly owner?: string }
type CountsOptions = JsonOption & RefusalCountsInput & { readonly owner?: string }

export function addRefusalCommands(program: Command): void {
  const refusals = program.command('refusals').description('inspect the requests that were refused')

  withPage(withConditions(withJson(refusals.command('list')), REFUSALS.conditions))
    .description('list refused requests of the last day, newest first: the first ones of each kind and hour')
    .action(async ({ json, ...input }: ListOptions) => {
      const { refusals: items, nextCursor } = await run('refusals list', input)
      const form = { json, columns: LIST_COLUMNS, none: 'There is no such refusal.' }
      printPage({ items, nextCursor }, form)
    })

  withConditions(withJson(refusals.command('counts')), COUNT_CONDITIONS)
    .description('count refused requests by time, key, owner, agent, reason and limit')
    .option('--per <length>', 'minute, hour or day; hour by default')
    .action(async ({ json, ...input }: CountsOptions) => {
      const counts = await run('refusals counts', input)
      if (json) printJson(counts)
      else printTable(counts, COUNT_COLUMNS, 'No request was refused.')
    })
}

type Refusal = CommandResult<'refusals list'>['refusals'][number]

const LIST_COLUMNS: readonly Column<Refusal>[] = [
  ...columnsOf('at', 'reason', 'limit'),
  ['allowed', allowedBy],
  ...columnsOf('status', 'face', 'route', 'agent', 'field'),
  ['key', (refusal) => refusal.key_id],
  ['request', (refusal) => refusal.request_id],
]

const COUNT_COLUMNS: readonly Column<CommandResult<'refusals counts'>[number]>[] = [
  ...columnsOf('start', 'reason', 'limit', 'agent'),
  ['key', (counted) => counted.key_id],
  ['owner', (counted) => counted.owner_id],
  ['count', (counted) => counted.count],
]

/** What a rate limit allows and whose it is, such as `60 in 60 s (key)`. */
function allowedBy({ limit_points, limit_window_seconds, limit_of }: Refusal): string | undefined {
  return limit_points === null ? undefined : `${limit_points} in ${limit_window_seconds} s (${limit_of})`
}
