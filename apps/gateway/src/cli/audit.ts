import type { Command } from 'commander'
import { type JsonOption, run, withJson } from './context.ts'
import { printJson, printProperties } from './output.ts'

export function addAuditCommands(program: Command): void {
  const audit = program.command('audit').description('read and verify the audit log')

  withJson(audit.command('verify'))
    .description(
      'compute the chain of the audit log anew; exits with 1 if an event was edited, deleted, inserted or moved',
    )
    .option(
      '--head <number:hash>',
      'a head that the gateway has logged ("the head of the audit log"): without one, a cut or rewritten end cannot be seen',
    )
    .action(async ({ json, head }: JsonOption & { head?: string }) => {
      const state = await run('audit verify', { head })
      if (json) printJson(state)
      else {
        const { events, first, last, head: end, faults, isComparedWithHead } = state
        printProperties({
          events,
          'from event': first,
          'to event': last,
          head: end,
          'compared with a logged head': isComparedWithHead
            ? 'yes'
            : 'no: a cut or rewritten end cannot be seen',
          result: faults.length === 0 ? 'the chain holds' : 'the chain was changed',
        })
        for (const { n, fault } of faults) console.error(`Event ${n}: ${fault}.`)
      }
      if (state.faults.length > 0) process.exitCode = 1
    })
}
