import type { Command } from 'commander'
import type { CommandResult } from '#process/commands.ts'
import { type JsonOption, run, wholeNumber, withJson } from './context.ts'
import { printJson, printProperties, printRecords } from './output.ts'

export function addSecretCommands(program: Command): void {
  const secrets = program.command('secrets').description('maintain what SECRET_KEY encrypts')

  withJson(secrets.command('rewrite'))
    .description(
      'encrypt every secret in the database with SECRET_KEY, reading with SECRET_KEY_PREVIOUS what it does not read; may be repeated, also while gateways run',
    )
    .action(async ({ json }: JsonOption) => {
      const result = await run('secrets rewrite', {})
      const { rewritten, unchanged, unreadable, encrypted } = result
      if (json) printJson(result)
      else {
        printProperties({
          rewritten,
          'as they should be already': unchanged,
          'stored as': encrypted ? 'encrypted with SECRET_KEY' : 'plain text, because SECRET_KEY is not set',
        })
        for (const id of unreadable) {
          console.error(
            `The signing key ${id} cannot be read: neither SECRET_KEY nor SECRET_KEY_PREVIOUS is the one that it was encrypted with.`,
          )
        }
      }
      if (unreadable.length > 0) process.exitCode = 1
    })

  const keys = program.command('signing-keys').description('manage the keys that sign access tokens')

  withJson(keys.command('list'))
    .description('list the keys whose access tokens are accepted, the newest first')
    .action(async ({ json }: JsonOption) => show(await run('signing-keys list', {}), json))

  withJson(keys.command('rotate'))
    .description('make a new key, with which every gateway signs from its next login on')
    .option(
      '--accept-seconds <number>',
      'how long the tokens of the keys before are accepted: by default tokens.lifetimeSeconds, so until they expire; 0 if a key has leaked',
      wholeNumber,
    )
    .action(async ({ json, acceptSeconds }: JsonOption & { acceptSeconds?: number }) =>
      show(await run('signing-keys rotate', { acceptSeconds }), json),
    )
}

type SigningKeys = CommandResult<'signing-keys list'>

function show(keys: SigningKeys, json: true | undefined): void {
  const privateKey = ({ encrypted }: SigningKeys[number]) =>
    encrypted === null ? 'deleted' : encrypted ? 'encrypted' : 'plain text'
  const columns = ['id', 'state', 'created_at', 'accepted_until', ['private key', privateKey]] as const
  printRecords(keys, { json }, { columns, none: 'There is no signing key: the first start makes one.' })
}
