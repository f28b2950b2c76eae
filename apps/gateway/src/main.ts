#!/usr/bin/env node
import cluster from 'node:cluster'
import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { Command, InvalidArgumentError, Option } from 'commander'
import { TransferError } from '#core/database/transfer.ts'
import { Problem } from '#core/errors.ts'
import type { CommandArguments, Command as CommandName } from './commands.ts'
import { type Config, loadConfig } from './config.ts'
import { ConfigError } from './config-mistakes.ts'
import { StartError } from './start-error.ts'

/**
 * The process edge: arguments in, exit code out. What runs is loaded by the command that runs it, so that help and a
 * mistaken configuration are told at once.
 */
const program = new Command('trunkline')
  .description('One HTTP interface in front of several AI agent platforms.')
  .addHelpText(
    'after',
    `
Configuration: gateway.config.yaml (or the file that GATEWAY_CONFIG names) and the environment; see README.md.
Commands reach a running gateway through its socket in DATA_DIR, or open the database themselves.`,
  )
  .showHelpAfterError('(--help shows what can be said)')

program
  .command('start')
  .description('run the gateway until SIGTERM or SIGINT')
  .action(async () => {
    const settings = config()
    // A gateway whose output nobody takes, or whose disk is full, serves all the same.
    process.stdout.on('error', () => undefined)
    if (settings.workers > 1 && cluster.isPrimary) process.exit(await startWorkers(settings))
    const { start } = await import('./start.ts')
    await start(settings)
  })

program
  .command('migrate')
  .description('bring the database up to the schema of this version')
  .action(async () => {
    const { migrateOnce } = await import('./run-command.ts')
    const applied = await migrateOnce(config())
    console.log(applied.length === 0 ? 'The database is up to date.' : `Applied: ${applied.join(', ')}`)
  })

const users = program.command('users').description('manage accounts')

users
  .command('create')
  .description('create a user; without --password-stdin a password is made and printed')
  .argument('<username>', '3 to 64 letters, digits and . _ - @')
  .addOption(new Option('--role <role>').choices(['admin', 'premium', 'user']).default('user'))
  .option('--max-api-calls <number>', 'calls the user may make in a period', wholeNumber)
  .addOption(new Option('--quota-period <period>').choices(['none', 'day', 'month']))
  .option('--password-stdin', 'read the password from standard input')
  .action(async (username: string, options) => {
    const given = options.passwordStdin === true ? await passwordFromStdin() : undefined
    const password = given ?? randomBytes(15).toString('base64url')
    const { role, maxApiCalls, quotaPeriod } = options
    print(
      await run('users create', { username, password, role, maxApiCalls, quotaPeriod }),
      given === undefined ? { password } : {},
    )
  })

users
  .command('list')
  .description('list all users')
  .action(async () => print(await run('users list', {})))

users
  .command('set-password')
  .description('set a password, read from standard input; ends the tokens of the user')
  .argument('<username>')
  .action(async (username: string) =>
    print(await run('users set-password', { username, password: await passwordFromStdin() })),
  )

users
  .command('suspend')
  .description("refuse the user's keys and tokens from now on")
  .argument('<username>')
  .action(async (username: string) => print(await run('users suspend', { username })))

const keys = program.command('keys').description('manage API keys')

keys
  .command('create')
  .description('create an API key; it is printed once')
  .requiredOption('--owner <username>', 'whose key it is')
  .requiredOption('--name <text>', 'label')
  .option('--description <text>', 'purpose and scope', '')
  .requiredOption('--expires-at <time>', 'ISO 8601 with a zone, such as 2027-12-31T00:00:00Z')
  .option('--permissions <list>', 'of chat, upload, admin', list, ['chat'])
  .option('--agents <list>', 'agent or agent/app; all where left out', list)
  .action(async ({ owner, name, description, expiresAt, permissions, agents }) =>
    print(
      await run('keys create', {
        owner,
        name,
        description,
        expiresAt,
        permissions,
        allowedAgents: agents,
      }),
    ),
  )

keys
  .command('list')
  .description('list all API keys')
  .action(async () => print(await run('keys list', {})))

keys
  .command('revoke')
  .description('refuse a key from the next call on')
  .argument('<id>', 'id of the key record')
  .action(async (id: string) => print(await run('keys revoke', { id })))

program
  .command('usage')
  .description('look at what was counted')
  .command('verify')
  .description('check that counters, rollups and ledger agree; exit code 1 where they do not')
  .action(async () => {
    const drifts = (await run('usage verify', {})) as unknown[]
    if (drifts.length === 0) return console.log('Counters, rollups and ledger agree.')
    print(drifts)
    process.exit(1)
  })

const db = program.command('db').description('move an embedded database to PostgreSQL')

db.command('export')
  .description('write every row of the embedded database to a new file, also while the gateway runs')
  .argument('<file>', 'gzipped where it ends in .gz')
  .action(async (file: string) => print(await run('db export', { file: resolve(file) })))

db.command('import')
  .description('fill the empty, migrated database of DATABASE_URL from such a file')
  .argument('<file>')
  .action(async (file: string) => {
    const { importOnce } = await import('./run-command.ts')
    print(await importOnce(config(), file))
  })

program
  .command('config')
  .description('look at the configuration')
  .command('check')
  .description('read the file and the environment and tell every mistake')
  .action(() => {
    const { source, agents, sandbox } = config()
    const from = source ?? 'no file: sandbox mode'
    console.log(
      `The configuration is good (${from}).${sandbox ? '' : ` Agents: ${agents.map(({ id }) => id).join(', ')}.`}`,
    )
  })

try {
  await program.parseAsync()
  process.exit(0)
} catch (error) {
  for (const line of complaints(error)) console.error(line)
  process.exit(1)
}

/** The look-alikes live in the primary: workers that each had their own would forget each other's conversations. */
async function startWorkers({ workers, sandbox }: Config): Promise<number> {
  const { runWorkers } = await import('./workers.ts')
  if (!sandbox) return runWorkers(workers, {})
  const { startSandboxAgents } = await import('./sandbox-agents.ts')
  const { entries } = await startSandboxAgents()
  return runWorkers(workers, { SANDBOX_AGENTS: JSON.stringify(entries) })
}

async function run<Name extends CommandName>(name: Name, args: CommandArguments[Name]): Promise<unknown> {
  const settings = config()
  const { runCommand } = await import('./run-command.ts')
  return runCommand(settings, name, args)
}

function config(): Config {
  return loadConfig(process.env, process.cwd())
}

/** What the operator can mend is told in a line each; what they cannot, with its stack. */
function complaints(error: unknown): string[] {
  if (error instanceof ConfigError) return [...error.mistakes]
  if (error instanceof Problem) return [`${error.message} ${error.detail}`]
  if (error instanceof StartError || error instanceof TransferError) return [error.message]
  return [error instanceof Error ? (error.stack ?? error.message) : String(error)]
}

function print(result: unknown, addition: Record<string, unknown> = {}): void {
  const shown = Array.isArray(result) ? result : { ...(result as object), ...addition }
  console.log(JSON.stringify(shown, null, 2))
}

function wholeNumber(value: string): number {
  if (!/^\d+$/.test(value)) throw new InvalidArgumentError('expected a whole number.')
  return Number(value)
}

function list(value: string): string[] {
  return value.split(',').map((item) => item.trim())
}

async function passwordFromStdin(): Promise<string> {
  return (await text(process.stdin)).replace(/\r?\n$/, '')
}
