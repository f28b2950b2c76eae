import { once } from 'node:events'
import type { Command } from 'commander'
import type { CommandArguments } from '#process/commands.ts'
import { AUDIT_EVENTS } from '#resources/audit-event.ts'
import { type JsonOption, run, withJson } from './context.ts'
import { addPagedList, withConditions } from './list-command.ts'
import { printJson, printProperties } from './output.ts'

export function addAuditCommands(program: Command): void {
  const audit = program.command('audit').description('read and verify the audit log')

  addPagedList(audit.command('list'), 'audit list', AUDIT_EVENTS, {
    columns: [
      ...(['n', 'at', 'operation', 'result', 'reason', 'actor'] as const),
      ['who', (event) => event.name ?? event.key_id ?? event.user_id],
      ...(['address', 'target', 'target_id', 'count'] as const),
    ],
    none: 'There is no such event.',
  }).description('list the events of the audit log, newest first')

  withConditions(audit.command('export'), AUDIT_EVENTS)
    .description(
      'write all events, newest first, as lines of JSON, with the states as the texts that were hashed',
    )
    .action(async (input: CommandArguments<'audit export'>) => {
      for (let before: number | undefined; ; ) {
        const events = await run('audit export', { ...input, ...(before !== undefined && { before }) })
        const last = events.at(-1)
        if (last === undefined) return
        await write(events.map((event) => `${JSON.stringify(event)}\n`).join(''))
        before = last.n
      }
    })

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

/** A pipe that is read slowly is waited for, so that memory stays bounded. */
async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}
