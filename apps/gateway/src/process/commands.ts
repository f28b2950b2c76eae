import type { RewrittenSecrets, SigningKeyState } from '#core/accounts/auth/signing-key-administration.ts'
import type { KeyFilter, KeyOrder } from '#core/accounts/keys/key-filter.ts'
import type { NewKey } from '#core/accounts/keys/key-input.ts'
import type { UserFilter, UserOrder } from '#core/accounts/users/user-filter.ts'
import type { NewUser, UserChange } from '#core/accounts/users/user-input.ts'
import type { AgentStatus } from '#core/agents/deployments/probes.ts'
import { whoIs } from '#core/audit/actor.ts'
import { type ChainState, notedHead, verifyChain } from '#core/audit/verify-chain.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { Database } from '#core/database/database.ts'
import { exportDatabase } from '#core/database/export/export.ts'
import type { ExportEnd } from '#core/database/export/export-format.ts'
import { refuseField } from '#core/errors/errors.ts'
import { OperatorError } from '#core/errors/operator-error.ts'
import type { Drift } from '#core/ledger/verify.ts'
import type { OrderChoice } from '#core/lists/list-order.ts'
import type { AuditInput } from '#core/reports/audit-log/audit-query.ts'
import type { CallsInput } from '#core/reports/calls-query.ts'
import type { RefusalCountsInput } from '#core/reports/refusals/refusal-counts-query.ts'
import type { RefusalsInput } from '#core/reports/refusals/refusals-query.ts'
import type { ReportInput } from '#core/reports/report-query.ts'
import {
  PAGE_ITEMS_MAX,
  type PageRequest,
  readOrderedPage,
  readPage,
} from '#core/requests/input/pagination.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { ProcessTasks, Services } from '#core/services/services.ts'
import type { UploadFiles } from '#core/uploads/upload-rows.ts'
import type { SweptOrphans } from '#core/uploads/upload-sweep.ts'
import type { ApiKey, User } from '#generated/prisma/client.ts'
import type { RunCommand } from '#ops/command-socket.ts'
import { auditRecord, storedAuditRecord } from '#records/audit-record.ts'
import { deploymentRecord } from '#records/deployment-record.ts'
import { createdKeyRecord, keyRecord } from '#records/key-record.ts'
import { processRecord } from '#records/process-record.ts'
import { refusalCountRecord, refusalRecord } from '#records/refusal-record.ts'
import { type callRecord, callRecorder, instancesIn, reportRecord } from '#records/usage-record.ts'
import { fullUserRecord } from '#records/user-record.ts'

/**
 * The commands of the command line and their arguments. A command runs in the process that owns the embedded database, or in
 * the process of the command line itself; its arguments are sent as JSON.
 */
export interface CommandArguments {
  agents: Record<string, never>
  'users create': NewUser
  'users list': UserFilter & OrderChoice<UserOrder>
  'users set-password': { username: string; password: string }
  'users update': { username: string } & UserChange
  'keys create': { owner: string } & Omit<NewKey, 'ownerId'>
  'keys list': Omit<KeyFilter, 'ownerId'> & OrderChoice<KeyOrder>
  'keys show': { id: string }
  'keys revoke': { id: string }
  /** `username` stands for the id of the user. */
  'usage report': { username?: string | undefined } & ReportInput
  'usage verify': Record<string, never>
  'calls list': { username?: string | undefined } & PageRequest & CallsInput
  'refusals list': { username?: string | undefined } & PageRequest & RefusalsInput
  'refusals counts': { username?: string | undefined } & RefusalCountsInput
  'audit list': { username?: string | undefined } & PageRequest & AuditInput
  /** A batch of the events, newest first; `before` is the number of the last one of the previous batch. */
  'audit export': { username?: string | undefined; before?: number } & AuditInput
  processes: { state?: string | undefined }
  'uploads sweep': Record<string, never>
  /** A batch of the files that uploads refer to; `after` is the id of the last one of the previous batch. */
  'uploads files': { after?: string }
  'secrets rewrite': Record<string, never>
  'signing-keys list': Record<string, never>
  'signing-keys rotate': { acceptSeconds?: number | undefined }
  /** The path must be absolute, since the process that writes the file may have another working directory. */
  'db export': { file: string }
  /** `head` is a number and a hash that the gateway has logged. */
  'audit verify': { head?: string | undefined }
}

/** The results of the commands. Their records are those of REST, made by the same functions. */
export interface CommandResults {
  agents: DeployedAgent[]
  'users create': UserRecord
  'users list': UserRecord[]
  'users set-password': UserRecord
  'users update': UserRecord
  'keys create': CreatedKey
  /** `owners` holds the username of each owner by id, for a table that people can read. */
  'keys list': { keys: Key[]; owners: Readonly<Record<string, string>> }
  'keys show': Key
  'keys revoke': Key
  'usage report': ReportRecord
  'usage verify': Drift[]
  'calls list': { calls: CallRecord[]; nextCursor: string | null }
  'refusals list': { refusals: RefusalRecord[]; nextCursor: string | null }
  'refusals counts': RefusalCountRecord[]
  'audit list': { events: AuditRecord[]; nextCursor: string | null }
  /** The events with the texts that were hashed; none after the last one. */
  'audit export': ReturnType<typeof storedAuditRecord>[]
  processes: ProcessRecord[]
  'uploads sweep': SweptUploads
  'uploads files': UploadFiles
  'secrets rewrite': RewrittenSecrets
  'signing-keys list': SigningKeyRecord[]
  'signing-keys rotate': SigningKeyRecord[]
  'db export': ExportEnd['end']
  'audit verify': ChainState
}

/** An agent, and REST's records of its deployments. */
export interface DeployedAgent {
  readonly id: string
  readonly name: string
  readonly platform: string
  readonly status: AgentStatus
  readonly deployments: readonly ReturnType<typeof deploymentRecord>[]
}

export interface SweptUploads extends SweptOrphans {
  /** Uploads that had expired, and deletions that had been interrupted. */
  readonly expired: number
}

export type UserRecord = ReturnType<typeof fullUserRecord>
export type Key = ReturnType<typeof keyRecord>
export type ReportRecord = ReturnType<typeof reportRecord>
export type CallRecord = ReturnType<typeof callRecord>
export type RefusalRecord = ReturnType<typeof refusalRecord>
export type RefusalCountRecord = ReturnType<typeof refusalCountRecord>
export type AuditRecord = ReturnType<typeof auditRecord>
export type ProcessRecord = ReturnType<typeof processRecord>
export type SigningKeyRecord = ReturnType<typeof signingKeyRecord>
export type CreatedKey = ReturnType<typeof createdKeyRecord>

export type Command = keyof CommandArguments

type Commands = { [Name in Command]: (args: CommandArguments[Name]) => Promise<CommandResults[Name]> }

interface CommandDeps {
  readonly services: Pick<
    Services,
    'users' | 'keys' | 'agents' | 'usage' | 'calls' | 'refusals' | 'audit' | 'processes'
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
    return commands[name as Command](args as never)
  }
}

/** @param operatorName - the account that runs a command, for the audit log */
function commandsOf(
  {
    services: { users, keys, agents, usage: reports, calls, refusals, audit, processes },
    processTasks: { usage, uploads, signingKeys, agents: catalog, audit: auditTasks },
    database,
    runtime,
  }: CommandDeps,
  operatorName: string,
): Commands {
  const operator = (userId = NIL_UUID): Principal => ({
    userId,
    role: 'admin',
    via: { kind: 'token', tokenId: NIL_UUID, expiresAt: new Date(0) },
    origin: { operator: operatorName },
  })
  const by = whoIs(operator())
  const usersOf = ({ orderBy, order, ...filter }: CommandArguments['users list']) =>
    all((page) =>
      readOrderedPage(page, (query) => users.list(operator(), { ...query, orderBy, order }, filter)),
    )
  const shownUser = (user: User) => fullUserRecord(user, runtime.now())
  const shownKey = (key: ApiKey) => keyRecord(key, runtime.now())

  const userOf = async (username: string | undefined) =>
    username === undefined ? {} : { userId: (await users.findByName(operator(), username)).id }

  return {
    agents: () =>
      Promise.all(
        agents.findMany(operator(), [...catalog.current().keys()]).map(async ({ id, name, platform }) => ({
          id,
          name,
          platform,
          status: (await agents.statusOf(operator(), id)).status,
          deployments: (await agents.deploymentsOf(operator(), id)).map(deploymentRecord),
        })),
      ),
    'users create': async (args) => shownUser(await users.create(operator(), args)),
    'users list': async (args) => (await usersOf(args)).map(shownUser),
    'users set-password': async ({ username, password }) => {
      const { id } = await users.findByName(operator(), username)
      return shownUser(await users.setPassword(operator(), id, password))
    },
    'users update': async ({ username, ...change }) => {
      const { id } = await users.findByName(operator(), username)
      return shownUser(await users.update(operator(), id, change))
    },
    'keys create': async ({ owner, ...key }) => {
      const { id, status } = await users.findByName(operator(), owner)
      // The service checks this only for an owner who is not the caller, and here the owner is the caller.
      if (status !== 'active') refuseField(['owner'], 'expected an active user.')
      return createdKeyRecord(await keys.create(operator(id), key), runtime.now())
    },
    'keys list': async ({ orderBy, order, ...filter }) => {
      const records = await all((page) =>
        readOrderedPage(page, (query) => keys.list(operator(), { ...query, orderBy, order }, filter)),
      )
      const names = (await usersOf({})).map(({ id, username }) => [id, username])
      return { keys: records.map(shownKey), owners: Object.fromEntries(names) }
    },
    'keys show': async ({ id }) => shownKey(await keys.find(operator(), id)),
    'keys revoke': async ({ id }) => shownKey(await keys.revoke(operator(), id)),
    async 'usage report'({ username, ...input }) {
      const report = await reports.report(operator(), { ...input, ...(await userOf(username)) })
      if (report.groups.length * report.points.length > REPORT_POINTS_MAX)
        refuseField(['groupBy'], 'gives too many points; expected a shorter range or fewer groups.')
      return reportRecord(report)
    },
    'usage verify': () => usage.verify('all'),
    async 'calls list'({ username, limit, cursor, ...input }) {
      const filter = { ...input, ...(await userOf(username)) }
      const page = await readPage({ limit, cursor }, (query) => calls.list(operator(), filter, query))
      const instances = await calls.findInstances(operator(), instancesIn(page.items))
      return { calls: page.items.map(callRecorder(instances)), nextCursor: page.nextCursor }
    },
    async 'refusals list'({ username, limit, cursor, ...input }) {
      const filter = { ...input, ...(await userOf(username)) }
      const page = await readOrderedPage({ limit, cursor }, (query) =>
        refusals.list(operator(), filter, query),
      )
      return { refusals: page.items.map(refusalRecord), nextCursor: page.nextCursor }
    },
    async 'refusals counts'({ username, ...input }) {
      const counts = await refusals.counts(operator(), { ...input, ...(await userOf(username)) })
      return counts.map(refusalCountRecord)
    },
    async 'audit list'({ username, limit, cursor, ...input }) {
      const filter = { ...input, ...(await userOf(username)) }
      const page = await readOrderedPage({ limit, cursor }, (query) => audit.list(operator(), filter, query))
      return { events: page.items.map(auditRecord), nextCursor: page.nextCursor }
    },
    async 'audit export'({ username, before, ...input }) {
      const events = await auditTasks.events({ ...input, ...(await userOf(username)) }, before)
      if (before === undefined) await audit.exported(operator(), 'audit', { ...input, username })
      return events.map(storedAuditRecord)
    },
    processes: async ({ state }) => (await processes.list(operator(), { state })).map(processRecord),
    async 'uploads sweep'() {
      await auditTasks.append(by, { operation: 'uploads.sweep', target: 'upload' })
      let expired = 0
      for (let count = await uploads.expired(); count > 0; count = await uploads.expired()) expired += count
      return { expired, ...(await uploads.orphans()) }
    },
    'uploads files': ({ after }) => uploads.files(after),
    'secrets rewrite': () => signingKeys.rewriteSecrets(by),
    'signing-keys list': async () => (await signingKeys.list()).map(signingKeyRecord),
    async 'signing-keys rotate'({ acceptSeconds }) {
      if (acceptSeconds !== undefined && acceptSeconds > ACCEPT_SECONDS_MAX)
        refuseField(['acceptSeconds'], `expected at most ${ACCEPT_SECONDS_MAX}.`)
      return (await signingKeys.rotate(by, { acceptSeconds })).map(signingKeyRecord)
    },
    async 'db export'({ file }) {
      await auditTasks.append(by, { operation: 'export', target: 'export', targetId: 'database' })
      return exportDatabase(database, file)
    },
    async 'audit verify'({ head }) {
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
