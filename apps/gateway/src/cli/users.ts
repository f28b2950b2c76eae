import { randomBytes } from 'node:crypto'
import { Argument, type Command, Option } from 'commander'
import type { NewUser, UserChange } from '#core/accounts/users/user-input.ts'
import { QUOTA_PERIODS } from '#core/ledger/quota-period.ts'
import { ROLES, type Role } from '#core/requests/principal.ts'
import type { CommandArguments, CommandResult } from '#process/commands.ts'
import { USERS } from '#resources/user.ts'
import {
  type JsonOption,
  passwordFromStdin,
  type RecordOptions,
  run,
  wholeNumber,
  withJson,
} from './context.ts'
import { withConditions, withOrder, withRecords } from './list-command.ts'
import { printJson, printProperties, printRecords, type Shown } from './output.ts'

type QuotaOptions = Pick<NewUser, 'maxApiCalls' | 'quotaPeriod'>
type CreateOptions = JsonOption & QuotaOptions & { readonly role: Role; readonly passwordStdin?: true }

export function addUserCommands(program: Command): void {
  const users = program.command('users').description('manage users')

  withQuota(users.command('create'))
    .description('create a user; without --password-stdin a password is generated and printed')
    .argument('<username>', '3 to 64 letters, digits and . _ - @')
    .addOption(new Option('--role <role>', 'what the user may do').choices(ROLES).default('user'))
    .option('--password-stdin', 'read the password from standard input')
    .action(async (username: string, { role, maxApiCalls, quotaPeriod, ...options }: CreateOptions) => {
      const given = options.passwordStdin ? await passwordFromStdin() : undefined
      const password = given ?? randomBytes(15).toString('base64url')
      const user = await run('users create', { username, password, role, maxApiCalls, quotaPeriod })
      show(given === undefined ? { ...user, password } : user, options)
    })

  withConditions(withOrder(withRecords(users.command('list')), USERS), USERS)
    .description('list the users, with their roles, quotas and calls')
    .action(async ({ json, columns, ...chosen }: RecordOptions & CommandArguments<'users list'>) =>
      printRecords(await run('users list', chosen), { json, columns }, SHOWN),
    )

  withJson(users.command('set-password'))
    .description('set a password, read from standard input, and revoke the access tokens of the user')
    .argument('<username>', 'the name of the user')
    .action(async (username: string, options: JsonOption) =>
      show(await run('users set-password', { username, password: await passwordFromStdin() }), options),
    )

  withJson(users.command('suspend'))
    .description("refuse the user's keys and tokens from now on, and end their running calls within a second")
    .argument('<username>', 'the name of the user')
    .action((username: string, options: JsonOption) => update(username, { status: 'suspended' }, options))

  withJson(users.command('activate'))
    .description("end a suspension: the user's keys work again, and it can log in")
    .argument('<username>', 'the name of the user')
    .action((username: string, options: JsonOption) => update(username, { status: 'active' }, options))

  withJson(users.command('set-role'))
    .description('change what the user may do, from the next request on')
    .argument('<username>', 'the name of the user')
    .addArgument(new Argument('<role>', 'what the user may do').choices(ROLES))
    .action((username: string, role: Role, options: JsonOption) => update(username, { role }, options))

  withQuota(users.command('set-quota'))
    .description('change how many calls the user may make; an omitted value stays unchanged')
    .argument('<username>', 'the name of the user')
    .argument('[max-api-calls]', 'the same as --max-api-calls', wholeNumber)
    .action((username: string, calls: number | undefined, options: JsonOption & QuotaOptions, command) => {
      const { maxApiCalls = calls, quotaPeriod } = options
      if (maxApiCalls === undefined && quotaPeriod === undefined) {
        command.error('error: a number of calls or --quota-period is required')
      }
      return update(username, { maxApiCalls, quotaPeriod }, options)
    })
}

function withQuota(command: Command): Command {
  return withJson(command)
    .option('--max-api-calls <number>', 'calls the user may make in a period; 0 allows none', wholeNumber)
    .addOption(
      new Option(
        '--quota-period <period>',
        'period of the quota, in UTC; none counts all calls ever made',
      ).choices(QUOTA_PERIODS),
    )
}

async function update(username: string, change: UserChange, options: JsonOption): Promise<void> {
  show(await run('users update', { username, ...change }), options)
}

type UserRecord = CommandResult<'users update'>

function show(user: UserRecord & { password?: string }, { json }: JsonOption): void {
  const { password } = user
  if (json) printJson(user)
  else
    printProperties({ ...user, ...(password !== undefined && { password: `${password} (shown only now)` }) })
}

const SHOWN: Shown<UserRecord> = {
  columns: [
    ...(['username', 'role', 'status', 'api_calls_count', 'max_api_calls'] as const),
    ...(['quota_period', 'last_login', 'id'] as const),
  ],
  none: 'There is no such user.',
}
