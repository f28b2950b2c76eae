import type { Command } from 'commander'
import type { CommandArguments, CommandResult } from '#process/commands.ts'
import { API_KEYS } from '#resources/api-key.ts'
import { type JsonOption, list, type RecordOptions, run, wholeNumber, withJson } from './context.ts'
import { withConditions, withOrder, withRecords } from './list-command.ts'
import { printJson, printProperties, printRecords, type Shown } from './output.ts'

interface CreateOptions extends JsonOption {
  readonly owner: string
  readonly name: string
  readonly description: string
  readonly expiresAt: string
  readonly permissions: string[]
  readonly agents?: string[]
  readonly addresses?: string[]
  readonly chatPerMinute?: number
  readonly uploadPerMinute?: number
}

export function addKeyCommands(program: Command): void {
  const keys = program.command('keys').description('manage API keys')

  withJson(keys.command('create'))
    .description('create an API key; the key is printed only this once')
    .requiredOption('--owner <username>', 'the user whom the key belongs to')
    .requiredOption('--name <text>', 'label')
    .option('--description <text>', 'purpose and scope', '')
    .requiredOption(
      '--expires-at <time>',
      'ISO 8601 with a zone, such as 2027-12-31T00:00:00Z, or a date alone: the end of that day in UTC',
    )
    .option('--permissions <list>', 'chat, upload and admin, separated by commas', list, ['chat'])
    .option('--agents <list>', 'agent or agent/app, separated by commas; all agents if omitted', list)
    .option(
      '--addresses <list>',
      'addresses and ranges, such as 192.0.2.0/24, from which the key may be used; all addresses if omitted',
      list,
    )
    .option(
      '--chat-per-minute <count>',
      "chats a minute, in place of the gateway's limit and up to limits.maxPerKey",
      wholeNumber,
    )
    .option('--upload-per-minute <count>', 'the same for uploads', wholeNumber)
    .action(async ({ agents, addresses, chatPerMinute, uploadPerMinute, json, ...key }: CreateOptions) => {
      const restrictions = { allowedAgents: agents, allowedAddresses: addresses }
      const limits = { chatPerMinute, uploadPerMinute }
      show(await run('keys create', { ...key, ...restrictions, limits }), json)
    })

  withConditions(withOrder(withRecords(keys.command('list')), API_KEYS), API_KEYS)
    .description('list the API keys, with their owner, state and counts')
    .action(async ({ json, columns, ...chosen }: RecordOptions & CommandArguments<'keys list'>) => {
      const { keys: records, owners } = await run('keys list', chosen)
      printRecords(
        records,
        { json, columns },
        { columns: columnsWith(owners), none: 'There is no such API key.' },
      )
    })

  withJson(keys.command('show'))
    .description('show one API key, with its counts')
    .argument('<id>', 'id of the key record')
    .action(async (id: string, { json }: JsonOption) => show(await run('keys show', { id }), json))

  withJson(keys.command('rotate'))
    .description('give a key another secret, which is printed only this once; the id, limits and usage stay')
    .argument('<id>', 'id of the key record')
    .option(
      '--overlap-seconds <count>',
      'how long the secret before can still be used: 86400 by default; with 0 every earlier one ends at once',
      wholeNumber,
    )
    .action(async (id: string, { json, overlapSeconds }: JsonOption & { overlapSeconds?: number }) =>
      show(await run('keys rotate', { id, overlapSeconds }), json),
    )

  for (const [name, description] of CHANGES) {
    withJson(keys.command(name))
      .description(description)
      .argument('<id>', 'id of the key record')
      .action(async (id: string, { json }: JsonOption) => show(await run(`keys ${name}`, { id }), json))
  }
}

const CHANGES = [
  ['pause', 'refuse a key until it is resumed, and end its running calls within a second'],
  ['resume', 'lift the pause of a key'],
  [
    'revoke',
    'refuse a key for good from the next call on, on every replica, and end its running calls within a second',
  ],
] as const

type Key = CommandResult<'keys show'>
type CreatedKey = CommandResult<'keys create'>

function show(key: Key | CreatedKey, json: true | undefined): void {
  if (json) printJson(key)
  else
    printProperties({
      ...key,
      allowed_agents: key.allowed_agents ?? 'all',
      allowed_addresses: key.allowed_addresses ?? 'all',
      ...('full_key' in key && { full_key: `${key.full_key} (shown only now)` }),
    })
}

function columnsWith(owners: Readonly<Record<string, string>>): Shown<Key>['columns'] {
  return [
    ...(['id', 'name'] as const),
    ['owner', (key) => owners[key.owner_id] ?? key.owner_id],
    'key_prefix',
    ...(['state', 'expires_at', 'permissions'] as const),
    ['agents', (key) => key.allowed_agents?.join(',') ?? 'all'],
    ['calls', (key) => key.usage.total_calls],
    'last_used_at',
  ]
}
