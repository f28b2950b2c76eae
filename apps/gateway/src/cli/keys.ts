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
      '--chat-per-minute <count>',
      "chats a minute, in place of the gateway's limit and up to limits.maxPerKey",
      wholeNumber,
    )
    .option('--upload-per-minute <count>', 'the same for uploads', wholeNumber)
    .action(async ({ agents, chatPerMinute, uploadPerMinute, json, ...key }: CreateOptions) => {
      const limits = { chatPerMinute, uploadPerMinute }
      show(await run('keys create', { ...key, allowedAgents: agents, limits }), json)
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

  withJson(keys.command('revoke'))
    .description(
      'refuse a key from the next call on, on every replica, and end its running calls within a second',
    )
    .argument('<id>', 'id of the key record')
    .action(async (id: string, { json }: JsonOption) => show(await run('keys revoke', { id }), json))
}

type Key = CommandResult<'keys show'>
type CreatedKey = CommandResult<'keys create'>

function show(key: Key | CreatedKey, json: true | undefined): void {
  if (json) printJson(key)
  else
    printProperties({
      ...key,
      allowed_agents: key.allowed_agents ?? 'all',
      ...('full_key' in key && { full_key: `${key.full_key} (shown only now)` }),
    })
}

function columnsWith(owners: Readonly<Record<string, string>>): Shown<Key>['columns'] {
  return [
    ...(['id', 'name'] as const),
    ['owner', (key) => owners[key.owner_id] ?? key.owner_id],
    'key_prefix',
    ['state', stateOf],
    ...(['expires_at', 'permissions'] as const),
    ['agents', (key) => key.allowed_agents?.join(',') ?? 'all'],
    ['calls', (key) => key.usage.total_calls],
    'last_used_at',
  ]
}

function stateOf({ is_active, revoked_at }: Key): string {
  if (is_active) return 'active'
  return revoked_at === null ? 'expired' : 'revoked'
}
