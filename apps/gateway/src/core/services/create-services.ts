import { createAuthentication, type EndUserRules } from '#core/accounts/auth/authenticate.ts'
import { createLogin } from '#core/accounts/auth/login.ts'
import type { SigningKeyAdministration } from '#core/accounts/auth/signing-key-administration.ts'
import type { Tokens } from '#core/accounts/auth/tokens.ts'
import { createExpiringKeySearch } from '#core/accounts/keys/expiring-keys.ts'
import type { KeyRules } from '#core/accounts/keys/key-input.ts'
import type { RememberedKeys } from '#core/accounts/keys/key-limits.ts'
import { createKeySweep } from '#core/accounts/keys/key-sweep.ts'
import { createKeyWatch, type KeyWatchDeps } from '#core/accounts/keys/key-watch.ts'
import { createKeys } from '#core/accounts/keys/keys.ts'
import { createUnusedKeys } from '#core/accounts/keys/unused-keys.ts'
import { createPasswords } from '#core/accounts/users/passwords.ts'
import { createUsers, type UsersDeps } from '#core/accounts/users/users.ts'
import type { ChangeableCatalog } from '#core/agents/catalog.ts'
import type { ProcessLoads } from '#core/agents/deployments/load.ts'
import { createAgentDirectory } from '#core/agents/directory.ts'
import { whoIs } from '#core/audit/actor.ts'
import { createAudit } from '#core/audit/audit.ts'
import { createChainSweep } from '#core/audit/chain-sweep.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { createAdmission } from '#core/calls/admission.ts'
import { type ChatBounds, type ChatDeps, createChatService } from '#core/calls/chats.ts'
import type { StreamLimit } from '#core/calls/places.ts'
import { createUploadReceiver } from '#core/calls/receiving/upload-receiver.ts'
import { createCallStops } from '#core/calls/stop-calls.ts'
import { type ConfigurationsDeps, createConfigurations } from '#core/configuration/configurations.ts'
import { createConversations } from '#core/conversations/conversations.ts'
import type { Database } from '#core/database/database.ts'
import { DISK_FULL, type DiskSpace } from '#core/database/disk/disk-space.ts'
import { createEndUsers } from '#core/erasure/end-users.ts'
import { createClaimLookUp } from '#core/ledger/kept-claims.ts'
import type { Ledger } from '#core/ledger/ledger.ts'
import { createProcesses } from '#core/ledger/process-list.ts'
import { ByteBudget } from '#core/limits/byte-budget.ts'
import type { LimitRules, Limits } from '#core/limits/limits.ts'
import { createRefusedDocuments } from '#core/limits/refused-documents.ts'
import type { WaitingPlaces } from '#core/limits/sharing/owner-turns.ts'
import { createReads } from '#core/limits/sharing/reads.ts'
import { createSmallReads } from '#core/limits/sharing/small-reads.ts'
import { createTakeWrite } from '#core/limits/writes.ts'
import type { RunBounds } from '#core/reply-log/kept-run.ts'
import { createReplies, type RepliesDeps } from '#core/reply-log/replies.ts'
import type { ReplyStore } from '#core/reply-log/store/reply-store.ts'
import type { WakeUps } from '#core/reply-log/wake-ups/wake-ups.ts'
import { createAuditLog } from '#core/reports/audit-log/audit-log.ts'
import { createChatCalls } from '#core/reports/chat-calls.ts'
import { createRefusals } from '#core/reports/refusals/refusals.ts'
import { createUsage, type UsageDeps } from '#core/reports/usage.ts'
import type { UsageFeedDeps } from '#core/reports/usage-feed.ts'
import { createTypeCheck } from '#core/uploads/content/file-type.ts'
import { createIssuedFiles } from '#core/uploads/issued-files.ts'
import { createFileKeeper, type FileKeeperDeps } from '#core/uploads/kept-files/file-keeper.ts'
import type { FileStorage } from '#core/uploads/storage/storage.ts'
import { uploadFiles } from '#core/uploads/upload-rows.ts'
import { createUploadSweep, type SweepObserver } from '#core/uploads/upload-sweep.ts'
import { createUploads } from '#core/uploads/uploads.ts'
import { withListingLimit } from './agent-listing.ts'
import type { ProcessTasks, Services } from './services.ts'

type ChatParts = Pick<
  ChatDeps,
  'routes' | 'upstream' | 'derivedIds' | 'conversations' | 'pauses' | 'runtime' | 'observe'
>

export interface ServicesDeps extends ChatParts {
  readonly config: ServicesConfig
  readonly database: Database
  readonly space: DiskSpace
  /** This process. */
  readonly identity: { readonly id: string }
  readonly catalog: ChangeableCatalog
  readonly limits: Limits
  readonly rememberedKeys: RememberedKeys
  readonly tokens: Tokens
  readonly signingKeys: SigningKeyAdministration
  readonly ledger: Ledger
  /** What the live processes know of the deployments of agents. */
  readonly loads: ProcessLoads
  readonly storage: FileStorage
  readonly sweepObserver: SweepObserver
  readonly replyStore: ReplyStore
  readonly wakeUps: WakeUps
  readonly repliesObserver: RepliesDeps['observer']
  readonly onUsageFeedAnswer: UsageFeedDeps['onAnswer']
  readonly onKeyWatchAnswer: KeyWatchDeps['onAnswer']
  readonly onFileNotKept: FileKeeperDeps['observe']
  /** An event of the audit log was not stored. */
  readonly onAuditDropped: () => void
  readonly configuration: Pick<ConfigurationsDeps, 'source' | 'tell' | 'observer'>
}

export interface ServicesConfig {
  readonly limits: LimitRules & StreamLimit
  readonly chat: ChatBounds & Pick<RunBounds, 'replyBytesMax' | 'headerHoldMs'>
  readonly replies: {
    readonly bytesMax: number
    readonly graceMs: number
    readonly readersPerOwnerMax: number
    readonly readersPerCallMax: number
  }
  readonly conversations: EndUserRules & {
    readonly maxCharacters: number
    readonly nameFromQuestion: boolean
  }
  readonly uploads: UploadSettings
  readonly users: UsersDeps['config']
  readonly usage: UsageDeps['config']
  /** For reads and uploads that wait for their turns. */
  readonly waitingPlaces: WaitingPlaces
  /** Whether callers without a credential may list the agents. */
  readonly publicAgentListing: boolean
  readonly apiKeys: Omit<KeyRules, 'catalog' | 'limits'> & {
    readonly revokedRetentionDays?: number
    readonly revokeUnusedAfterDays?: number
  }
  readonly audit: { readonly retentionDays: number }
  readonly instance: { readonly leaseMs: number }
}

/** What the files that are sent within requests to platforms may take in memory in all. */
const INLINE_BYTES_MAX = 256 * 1024 * 1024

export interface UploadSettings {
  readonly maxBytes: number
  readonly types: readonly string[]
  readonly retentionDays: number
  readonly bytesPerOwnerMax: number
  readonly inFlightMax: number
  readonly inFlightPerOwnerMax: number
  readonly waitMs: number
  readonly stalledMs: number
  readonly timeoutMs: number
}

/** Creates the services, and separates what callers can reach from what only the process may do. */
export function createServices(deps: ServicesDeps): { services: Services; processTasks: ProcessTasks } {
  const { config, database, space, runtime, catalog, limits, tokens, ledger, upstream, storage } = deps
  const { observe } = deps
  const { sql, prisma, kind, lanes } = database
  const passwords = createPasswords()
  const audit = createAudit({ sql: lanes.logins, space, onDropped: deps.onAuditDropped })
  const authentication = createAuthentication({
    sql: lanes.keys,
    uses: lanes.logins,
    space,
    limits,
    tokens,
    endUsers: config.conversations,
  })
  const admission = createAdmission({
    limits,
    ledger,
    space,
    observe,
    keyLimits: deps.rememberedKeys.read,
    lookUpClaim: createClaimLookUp({ sql: lanes.keptAdmissions }),
  })
  const takeWrite = createTakeWrite(limits)
  const keyWatch = createKeyWatch({
    sql: lanes.keys,
    runtime,
    instanceId: deps.identity.id,
    onAnswer: deps.onKeyWatchAnswer,
  })
  const { tasks: replyTasks, ...replies } = createReplies({
    store: deps.replyStore,
    wakeUps: deps.wakeUps,
    keyWatch,
    takeWrite,
    runtime,
    bounds: {
      ...config.replies,
      replyBytesMax: config.chat.replyBytesMax,
      headerHoldMs: config.chat.headerHoldMs,
      readersMax: config.chat.inFlightMax,
    },
    observer: deps.repliesObserver,
  })
  const installation = () => deps.derivedIds.installation()
  const checkType = createTypeCheck(config.uploads.types)
  const fileKeeper = createFileKeeper({
    sql,
    storage,
    runtime,
    checkType,
    installation,
    space,
    bounds: config.uploads,
    places: config.waitingPlaces,
    observe: deps.onFileNotKept,
  })
  const chat = createChatService({
    ...deps,
    sql: lanes.conversations,
    authentication,
    admission,
    keyWatch,
    kept: replies,
    fileKeeper,
    files: createIssuedFiles({ prisma, sql, storage, runtime }),
    checkType,
    inlineBytes: new ByteBudget(INLINE_BYTES_MAX),
    keptCharactersMax: config.conversations.maxCharacters,
    namesConversations: config.conversations.nameFromQuestion,
    bounds: config.chat,
    limits: config.limits,
  })
  const uploads = createUploads({ prisma, sql, storage, runtime, takeWrite })
  const { drain, ...receiver } = createUploadReceiver({
    sql,
    storage,
    catalog,
    runtime,
    admission,
    keyWatch,
    observe,
    space,
    checkType,
    installation,
    turns: { ...config.uploads, places: config.waitingPlaces },
    bounds: config.uploads,
    times: config.uploads,
  })
  // Not the turns of reports, which may take as long as a search in a large installation.
  const searches = createReads(kind, { places: config.waitingPlaces, what: 'searches' })
  const { usersExist, createFirstAdmin, ...users } = createUsers({
    prisma,
    runtime,
    limits,
    passwords,
    reads: searches,
    takeWrite,
    config: config.users,
  })
  const { usage, calls, upkeep, requireKnownAgent } = createUsage({
    database: { kind, ...lanes.reports },
    upkeep: lanes.upkeep,
    runtime,
    limits,
    catalog,
    onFeedAnswer: deps.onUsageFeedAnswer,
    config: { ...config.usage, places: config.waitingPlaces },
  })
  // Not the turns of reports either: refusals are read when something is wrong.
  const records = createReads(kind, {
    places: config.waitingPlaces,
    atOnce: 1,
    what: 'pages of refusals and of the audit log',
  })
  const { events, ...auditLog } = createAuditLog({ database: lanes.records, limits, reads: records, audit })
  const processes = createProcesses({ sql, leaseMs: config.instance.leaseMs })
  const { reload, ...configuration } = createConfigurations({
    ...deps.configuration,
    sql: lanes.probes,
    isShared: kind === 'server',
    runtime,
    processes,
    takeWrite,
  })
  const rules = { catalog, limits: config.limits, ...config.apiKeys }
  const keys = createKeys({ prisma, sql, runtime, rules, reads: searches, takeWrite })
  const conversations = createConversations({
    prisma,
    sql,
    reads: searches,
    limits,
    takeWrite,
    audit,
    requireKnownAgent,
    pauses: deps.pauses,
    catalog,
    upstream,
    stored: deps.conversations,
    derivedIds: deps.derivedIds,
  })
  const callStops = createCallStops({ sql, kept: replies, space })
  const endUsers = createEndUsers({
    sql,
    erasures: lanes.erasures,
    places: config.waitingPlaces,
    storage,
    stalledMs: config.uploads.stalledMs,
    runtime,
    takeWrite,
    audit,
    catalog,
    upstream,
    callStops,
    stored: deps.conversations,
    derivedIds: deps.derivedIds,
  })
  const login = createLogin({
    prisma,
    sql: lanes.logins,
    runtime,
    limits,
    passwords,
    tokens,
    audit,
    space,
  })
  /** Admissions check the space themselves, after the key. Every other method that changes something is wrapped in this. */
  const changing =
    <Args extends unknown[], Result>(change: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      if (space.isLow) throw new Problem('unavailable', DISK_FULL)
      return change(...args)
    }
  return {
    services: {
      login: { ...login, logout: changing(login.logout) },
      tokens: { jwks: tokens.jwks },
      authentication,
      users: {
        ...users,
        create: changing(users.create),
        update: changing(users.update),
        setPassword: changing(users.setPassword),
        changeOwnPassword: changing(users.changeOwnPassword),
      },
      keys: {
        ...keys,
        create: changing(keys.create),
        update: changing(keys.update),
        rotate: changing(keys.rotate),
        endPreviousSecret: changing(keys.endPreviousSecret),
        resetUsage: changing(keys.resetUsage),
        revoke: changing(keys.revoke),
      },
      agents: withListingLimit(createAgentDirectory({ catalog, upstream, runtime, loads: deps.loads }), {
        limits,
        isPublic: config.publicAgentListing,
      }),
      chat: { start: chat.start, startKept: chat.startKept, check: chat.check },
      replies: {
        resume: replies.resume,
        reply: replies.reply,
        async remove(caller, ref, onLimit) {
          if (space.isLow) throw new Problem('unavailable', DISK_FULL)
          const removed = await replies.remove(caller, ref, onLimit)
          await audit.append(whoIs(caller), {
            operation: 'replies.remove',
            target: 'call',
            targetId: removed.callId,
          })
          return removed
        },
      },
      callStops,
      chatCalls: createChatCalls({ calls, ledger }),
      uploads: { ...uploads, ...receiver, remove: changing(uploads.remove) },
      usage,
      calls,
      conversations: {
        ...conversations,
        rename: changing(conversations.rename),
        rate: changing(conversations.rate),
      },
      endUsers,
      refusals: createRefusals({ database: lanes.records, runtime, limits, reads: records, catalog }),
      audit: auditLog,
      processes,
      configuration: { reload: changing(reload) },
      refusedDocuments: createRefusedDocuments({ limits, runtime }),
      reads: createSmallReads({ limits, runtime }),
    },
    processTasks: {
      firstStart: { usersExist, createFirstAdmin },
      agents: catalog,
      configuration,
      chat,
      uploads: {
        drain,
        ...createUploadSweep({
          sql: lanes.upkeep,
          storage,
          runtime,
          installation,
          observer: deps.sweepObserver,
        }),
        files: (after) => uploadFiles(prisma, after),
      },
      usage: upkeep,
      keys: {
        ...createKeySweep({ sql: lanes.upkeep, retentionDays: config.apiKeys.revokedRetentionDays }),
        ...createUnusedKeys(lanes.upkeep, config.apiKeys.revokeUnusedAfterDays),
        ...createExpiringKeySearch(lanes.upkeep),
      },
      replies: replyTasks,
      keptFiles: { close: fileKeeper.close },
      signingKeys: deps.signingKeys,
      audit: { ...audit, events, ...createChainSweep({ sql: lanes.upkeep, config: config.audit, runtime }) },
    },
  }
}
