import type { Command } from 'commander'
import type { Drift } from '#core/ledger/verify.ts'
import { type JsonOption, run, withJson } from './context.ts'
import { type Column, printJson, printTable } from './output.ts'

export function addUsageCommands(program: Command): void {
  const usage = program.command('usage').description('inspect the counted usage')

  withJson(usage.command('verify'))
    .description('check that counters, rollups and ledger agree; exit code 1 where they do not')
    .action(async ({ json }: JsonOption) => {
      const drifts = await run('usage verify', {})
      if (json) printJson(drifts)
      else if (drifts.length === 0) console.log('Counters, rollups and ledger agree.')
      else printTable(drifts, COLUMNS, '')
      if (drifts.length > 0) process.exitCode = 1
    })
}

const COLUMNS: readonly Column<Drift>[] = [
  ['equation', (drift) => drift.equation],
  ['subject', (drift) => drift.subject],
  ['expected', (drift) => drift.expected],
  ['found', (drift) => drift.found],
]
