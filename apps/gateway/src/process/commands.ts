import type { SigningKeyState } from '#core/accounts/auth/signing-key-administration.ts'
import type { KeyFilter, KeyOrder } from '#core/accounts/keys/key-filter.ts'
import type { NewKey } from '#core/accounts/keys/key-input.ts'
import type { KeyRotation } from '#core/accounts/keys/keys.ts'
import type { UserFilter, UserOrder } from '#core/accounts/users/user-filter.ts'
import type { NewUser, UserChange } from '#core/accounts/users/user-input.ts'
import { whoIs } from '#core/audit/actor.ts'
import { notedHead, verifyChain } from '#core/audit/verify-chain.ts'
import { refuseField } from '#core/base/errors/errors.ts'
import { OperatorError } from '#core/base/errors/operator-error.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { Database } from '#core/database/database.ts'
import { exportDatabase } from '#core/database/export/export.ts'
import type { OrderChoice } from '#core/lists/list-order.ts'
import type { AuditInput } from '#core/reports/audit-log/audit-query.ts'
import type { RecordList } from '#core/reports/record-list.ts'
import type { RefusalCountsInput } from '#core/reports/refusals/refusal-counts-query.ts'
import type { ReportInput } from '#core/reports/report-query.ts'
import { servedCalls } from '#core/reports/served-calls.ts'
import { PAGE_ITEMS_MAX, type PageRequest, readOrderedPage } from '#core/requests/input/pagination.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { ProcessTasks, Services } from '#core/services/services.ts'
import type { ApiKey, User } from '#generated/prisma/client.ts'
import type { RunCommand } from '#ops/command-socket.ts'
import { AGENT_DEPLOYMENT } from '#resources/agent-deployment.ts'
import { API_KEY, API_KEYS, CREATED_API_KEY } from '#resources/api-key.ts'
import { AUDIT_EVENTS, storedAuditRecord } from '#resources/audit-event.ts'
import { CALLS } from '#resources/call.ts'
import { type ListDefinition, type Selection, usernameOptions } from '#resources/define/define-list.ts'
import type { Fields } from '#resources/define/resource.ts'
import { ERASED_END_USER } from '#resources/erased-end-user.ts'
import { GATEWAY_PROCESS, RELOAD } from '#resources/gateway-process.ts'
import { REFUSAL_COUNT, REFUSAL_COUNTS, REFUSALS } from '#resources/refusal.ts'
import { USAGE } from '#resources/usage.ts'
import { reportRecord } from '#resources/usage-report.ts'
import { USER } from '#resources/user.ts'

/** The commands of the command line, by their names. */
type Commands = ReturnType<typeof commandsOf>
export type Command = keyof Commands

/**
 * The arguments of a command, which are sent as JSON: it runs in the process that owns the embedded database, or in the process
 * of the command line itself.
 */
export type CommandArguments<Name extends Command> =
  Parameters<Commands[Name]> extends [infer Arguments] ? Arguments : Record<string, never>

/** What a command returns, in the records of REST. */
export type CommandResult<Name extends Command> = Awaited<ReturnType<Commands[Name]>>

/** The conditions of a list as the command line has them: users by their names. */
type Given<Input> = Input & { readonly owner?: string | undefined; readonly user?: string | undefined }

interface CommandDeps {
  readonly services: Pick<
    Services,
    | 'users'
    | 'keys'
    | 'agents'
    | 'usage'
    | 'calls'
    | 'callStops'
    | 'endUsers'
    | 'refusals'
    | 'audit'
    | 'processes'
    | 'configuration'
  >
  readonly processTasks: Pick<ProcessTasks, 'usage' | 'uploads' | 'signingKeys' | 'agents' | 'audit'>
  readonly database: Database
  readonly runtime: Pick<Runtime, 'now'>
}

/**
 * Creates the function that executes commands. They run with the rights of an administrator, because a caller who can reach
 * the socket or the database has full access anyway. A new key belongs to the user that the command names.
 *
 * @throws OperatorError (the returned function) if the command is not known
 */
export function createCommands(deps: CommandDeps): RunCommand {
  return async (name, args, operatorName) => {
    const commands = commandsOf(deps, operatorName)
    if (!Object.hasOwn(commands, name)) {
      throw new OperatorError(`The running gateway does not know the command "${name}": its version differs.`)
    }
    return await commands[name as Command](args as never)
  }
}

/** @param operatorName - the account that runs a command, for the audit log */
function commandsOf(
  {
    services: {
      users,
      keys,
      agents,
      usage: reports,
      calls,
      callStops,
      endUsers,
      refusals,
      audit,
      processes,
      configuration,
    },
    processTasks: { usage, uploads, signingKeys, agents: catalog, audit: auditTasks },
    database,
    runtime,
  }: CommandDeps,
  operatorName: string,
) {
  const operator = (userId = NIL_UUID): Principal => ({
    userId,
    role: 'admin',
    via: { kind: 'token', tokenId: NIL_UUID, expiresAt: new Date(0) },
    origin: { operator: operatorName },
  })
  const by = whoIs(operator())
  const usersOf = ({ orderBy, order, ...filter }: UserFilter & OrderChoice<UserOrder>) =>
    all((page) =>
      readOrderedPage(page, (query) => users.list(operator(), { ...query, orderBy, order }, filter)),
    )
  const view = () => ({ now: runtime.now() })
  const shownUser = (user: User) => USER.record(user, view())
  const shownKey = (key: ApiKey) => API_KEY.record(key, view())
  const shownSecret = ({ key, fullKey }: { key: ApiKey; fullKey: string }) =>
    CREATED_API_KEY.record({ ...key, fullKey }, view())

  const idOf = async (username: string | undefined) =>
    username === undefined ? undefined : (await users.findByName(operator(), username)).id
  /** The conditions of a list, with the ids of the users that the command line names. */
  const selected = async <Input extends object>(list: Selection, given: Given<Input>): Promise<Input> => {
    const ids = await Promise.all(
      [...usernameOptions(list)].map(async ([condition, option]) => [
        condition,
        await idOf(given[option as 'owner' | 'user']),
      ]),
    )
    return { ...given, ...Object.fromEntries(ids) }
  }
  /** Reads pages of a list, in the records of its definition. */
  const pagesOf =
    <Row, Of extends Fields, Input extends object, Seen>(
      list: ListDefinition<Row, Of, Seen>,
      rows: Pick<RecordList<Input, Row & { readonly cursor: string }>, 'list'>,
      ...[seen]: unknown extends Seen ? [] : [Seen]
    ) =>
    async ({ limit, cursor, ...given }: PageRequest & Given<Input>) => {
      const input = await selected<Input>(list, given as Given<Input>)
      const { items, nextCursor } = await readOrderedPage({ limit, cursor }, (query) =>
        rows.list(operator(), input, query),
      )
      return { items: items.map((row) => list.of.record(row, seen as Seen)), nextCursor }
    }

  return {
    agents: () =>
      Promise.all(
        agents.findMany(operator(), [...catalog.current().keys()]).map(async ({ id, name, platform }) => ({
          id,
          name,
          platform,
          status: (await agents.statusOf(operator(), id)).status,
          deployments: (await agents.deploymentsOf(operator(), id)).map(AGENT_DEPLOYMENT.record),
        })),
      ),
    'users create': async (args: NewUser) => shownUser(await users.create(operator(), args)),
    'users list': async (args: UserFilter & OrderChoice<UserOrder>) => (await usersOf(args)).map(shownUser),
    'users set-password': async ({ username, password }: { username: string; password: string }) => {
      const { id } = await users.findByName(operator(), username)
      return shownUser(await users.setPassword(operator(), id, password))
    },
    'users update': async ({ username, ...change }: { username: string } & UserChange) => {
      const { id } = await users.findByName(operator(), username)
      return shownUser(await users.update(operator(), id, change))
    },
    'keys create': async ({ owner, ...key }: { owner: string } & Omit<NewKey, 'ownerId'>) => {
      const { id, status } = await users.findByName(operator(), owner)
      // The service checks this only for an owner who is not the caller, and here the owner is the caller.
      if (status !== 'active') refuseField(['owner'], 'expected an active user.')
      const created = await keys.create(operator(id), key)
      return shownSecret(created)
    },
    /** `owners` has the username of each owner by id, for a table that people can read. */
    async 'keys list'({ orderBy, order, ...given }: Given<KeyFilter> & OrderChoice<KeyOrder>) {
      const filter = await selected<KeyFilter>(API_KEYS, given)
      const records = await all((page) =>
        readOrderedPage(page, (query) => keys.list(operator(), { ...query, orderBy, order }, filter)),
      )
      const names = (await usersOf({})).map(({ id, username }) => [id, username] as const)
      return { keys: records.map(shownKey), owners: Object.fromEntries<string>(names) }
    },
    'keys show': async ({ id }: { id: string }) => shownKey(await keys.find(operator(), id)),
    'keys rotate': async ({ id, ...rotation }: { id: string } & KeyRotation) =>
      shownSecret(await keys.rotate(operator(), id, rotation)),
    'keys pause': async ({ id }: { id: string }) =>
      shownKey(await keys.update(operator(), id, { isActive: false })),
    'keys resume': async ({ id }: { id: string }) =>
      shownKey(await keys.update(operator(), id, { isActive: true })),
    'keys revoke': async ({ id }: { id: string }) => shownKey(await keys.revoke(operator(), id)),
    async 'usage report'(given: Given<ReportInput>) {
      const report = await reports.report(operator(), await selected<ReportInput>(USAGE, given))
      if (report.groups.length * report.points.length > REPORT_POINTS_MAX)
        refuseField(['groupBy'], 'gives too many points; expected a shorter range or fewer groups.')
      return reportRecord(report)
    },
    'usage verify': () => usage.verify('all'),
    'calls list': pagesOf(CALLS, servedCalls(calls), { seesPlatform: true }),
    async 'calls stop'({ id }: { id: string }) {
      const { callId, outcome } = await callStops.stop(operator(), { kind: 'call', callId: id.toLowerCase() })
      return { call_id: callId, outcome }
    },
    async 'end-users erase'({ endUser, owner }: { endUser: string; owner: string }) {
      return ERASED_END_USER.record(await endUsers.erase(operator(), { endUser, ownerId: await idOf(owner) }))
    },
    'refusals list': pagesOf(REFUSALS, refusals),
    async 'refusals counts'(given: Given<RefusalCountsInput>) {
      const input = await selected<RefusalCountsInput>(REFUSAL_COUNTS, given)
      return (await refusals.counts(operator(), input)).map(REFUSAL_COUNT.record)
    },
    'audit list': pagesOf(AUDIT_EVENTS, audit),
    /**
     * A batch of the events, newest first, with the texts that were hashed; none after the last one. `before` is the number of
     * the last one of the previous batch.
     */
    async 'audit export'({ before, ...given }: Given<AuditInput> & { before?: number }) {
      const events = await auditTasks.events(await selected<AuditInput>(AUDIT_EVENTS, given), before)
      if (before === undefined) await audit.exported(operator(), 'audit', given)
      return events.map(storedAuditRecord)
    },
    processes: async ({ state }: { state?: string | undefined }) =>
      (await processes.list(operator(), { state })).map(GATEWAY_PROCESS.record),
    reload: async () => RELOAD.record(await configuration.reload(operator())),
    async 'uploads sweep'() {
      await auditTasks.append(by, { operation: 'uploads.sweep', target: 'upload' })
      let expired = 0
      for (let count = await uploads.expired(); count > 0; count = await uploads.expired()) expired += count
      // Uploads that had expired, and deletions that had been interrupted.
      return { expired, ...(await uploads.orphans()) }
    },
    /** A batch of the files that uploads refer to; `after` is the id of the last one of the previous batch. */
    'uploads files': ({ after }: { after?: string }) => uploads.files(after),
    'secrets rewrite': () => signingKeys.rewriteSecrets(by),
    'signing-keys list': async () => (await signingKeys.list()).map(signingKeyRecord),
    async 'signing-keys rotate'({ acceptSeconds }: { acceptSeconds?: number | undefined }) {
      if (acceptSeconds !== undefined && acceptSeconds > ACCEPT_SECONDS_MAX)
        refuseField(['acceptSeconds'], `expected at most ${ACCEPT_SECONDS_MAX}.`)
      return (await signingKeys.rotate(by, { acceptSeconds })).map(signingKeyRecord)
    },
    /** The path must be absolute, since the process that writes the file may have another working directory. */
    async 'db export'({ file }: { file: string }) {
      await auditTasks.append(by, { operation: 'export', target: 'export', targetId: 'database' })
      return exportDatabase(database, file)
    },
    /** `head` is a number and a hash that the gateway has logged. */
    async 'audit verify'({ head }: { head?: string | undefined }) {
      const noted = head === undefined ? undefined : notedHead(head)
      if (head !== undefined && noted === undefined)
        refuseField(['head'], 'expected <number>:<hash>, as the gateway logs it.')
      return verifyChain(database.sql, noted)
    },
  }
}

/** A result is written in one go, and a larger report would make calls wait. */
const REPORT_POINTS_MAX = 10_000

/** As long as tokens may be valid: ten years. */
const ACCEPT_SECONDS_MAX = 315_360_000

const NIL_UUID = '00000000-0000-0000-0000-000000000000'

async function all<Item>(
  read: (page: PageRequest) => Promise<{ items: readonly Item[]; nextCursor: string | null }>,
): Promise<Item[]> {
  const items: Item[] = []
  let cursor: string | undefined
  do {
    const page = await read({ limit: PAGE_ITEMS_MAX, cursor })
    items.push(...page.items)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return items
}

/** The record of a signing key, which never contains its private part. */
function signingKeyRecord({ id, state, createdAt, acceptedUntil, encrypted }: SigningKeyState) {
  return {
    id,
    state,
    created_at: createdAt.toISOString(),
    accepted_until: acceptedUntil?.toISOString() ?? null,
    encrypted,
  }
}
