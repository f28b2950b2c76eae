import type { KeyFilter, KeyOrder } from '#core/accounts/keys/key-filter.ts'
import type { Quota } from '#core/accounts/users/user.ts'
import type { AgentInfo } from '#core/agents/directory.ts'
import type { OfferedPause } from '#core/agents/pause.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { fail } from '#core/base/errors/errors.ts'
import type { Conversation } from '#core/conversations/conversation-rows.ts'
import type { OnLimit } from '#core/limits/limits.ts'
import type { Listed, OrderedQuery } from '#core/lists/ordered-lists.ts'
import type { AuditEvent } from '#core/reports/audit-log/audit-rows.ts'
import type { CallInstance } from '#core/reports/call-instances.ts'
import type { CallParent } from '#core/reports/calls.ts'
import type { Refusal } from '#core/reports/refusals/refusals.ts'
import type { ReportInput } from '#core/reports/report-query.ts'
import type { Report } from '#core/reports/reports.ts'
import type { ScopeFilter } from '#core/reports/scope.ts'
import type { ListQuery } from '#core/requests/input/pagination.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { Services } from '#core/services/services.ts'
import type { ApiKey, Call, Upload, User } from '#generated/prisma/client.ts'
import { batched, batchedBy, batchedRows, type ReadMany } from './batched.ts'
import type { RowQuery } from './columns-of-both.ts'
import { type FoundNode, findNodes } from './find-nodes.ts'
import { foundOr } from './found-or.ts'

type Query = RowQuery
type OwnedFilter = Omit<KeyFilter, 'ownerId'>
export type KeyReportInput = Omit<ReportInput, keyof ScopeFilter>
interface Page {
  readonly query: ListQuery & Query
}

/**
 * Looks up rows that are not relations of the database, such as the key of a call, by their ids: all rows of one level of a
 * query in one statement, each under the caller's filter of the service. A row that does not exist or that the caller may
 * not see is null.
 */
export interface Loaders {
  /** An object of any type, with no more than its id, unless it is an agent. */
  node(id: string): Promise<FoundNode | null>
  key(id: string, query: Query): Promise<ApiKey | null>
  /** A key that the caller manages, for a field that other callers are denied. */
  managedKey(id: string, query: Query): Promise<ApiKey | null>
  /** The key of the request, which is read once. */
  currentKey(): ReturnType<Services['keys']['current']>
  user(id: string, query: Query): Promise<User | null>
  /** A user, for a field that all but administrators are denied. */
  managedUser(id: string, query: Query): Promise<User | null>
  /** The caller's own user. */
  ownUser(query: Query): Promise<User>
  call(id: string, query: Query): Promise<Call | null>
  upload(id: string, query: Query): Promise<Upload | null>
  conversation(id: string): Promise<Conversation | null>
  conversationOfCall(callId: string): Promise<Conversation | null>
  /** The open question of a call, for callers who may answer it. */
  pause(callId: string): Promise<OfferedPause | null>
  /** The last refusal of a request, by the id of the request. */
  refusal(requestId: string): Promise<Refusal | null>
  auditEvent(n: number): Promise<AuditEvent | null>
  agent(id: string): Promise<AgentInfo | null>
  /** The process that served a call. */
  instance(id: string): Promise<CallInstance | null>
  /** A page of the keys of an owner; the pages of one level have the same arguments. */
  keysOf(
    ownerId: string,
    page: { readonly query: OrderedQuery<KeyOrder> & Query; readonly filter: OwnedFilter },
  ): Promise<Listed<ApiKey>[] | null>
  keyCountOf(ownerId: string, filter: OwnedFilter): Promise<number | null>
  /** A page of the calls of a key or of the keys of a user, which takes one point of the rate limit for the whole level. */
  callsOfKey(keyId: string, page: Page): Promise<Call[] | null>
  callsOfOwner(ownerId: string, page: Page): Promise<Call[] | null>
  /** A page of the uploads of a key, or of a user, of whom only the caller's own has any that it may see. */
  uploadsOfKey(keyId: string, page: Page): Promise<Upload[] | null>
  uploadCountOfKey(keyId: string): Promise<number | null>
  uploadsOfOwner(ownerId: string, page: Page): Promise<Upload[] | null>
  uploadCountOfOwner(ownerId: string): Promise<number | null>
  /** The report of a key; those of one level with the same arguments take one point of the rate limit. */
  report(keyId: string, input: KeyReportInput): Promise<Report | null>
  /** The report with which that of a key is compared; those of one level are read together. */
  reportBefore(keyId: string, report: Report): Promise<Report | null>
  /** The quota of the caller's user, which every report of a level may ask for. */
  quota(): Promise<Quota>
}

/** @param callerOf - is called when something is loaded, since not every request has a caller */
export function createLoaders(
  services: Services,
  callerOf: () => Principal,
  onLimit: OnLimit,
  signal: AbortSignal,
): Loaders {
  const { keys, users, usage, calls, uploads, conversations, agents, refusals, audit } = services
  const byId = <Row extends { id: string }>(read: (ids: readonly string[]) => Promise<readonly Row[]>) =>
    async function readById(ids: readonly string[]) {
      return new Map((await read(ids)).map((row) => [row.id, row]))
    }
  const callsOf =
    (parent: CallParent) =>
    ({ query }: Page) =>
    (ids: readonly string[]) =>
      calls.ofParents(callerOf(), { parent, ids }, query, onLimit, signal)
  /** A request without a caller is refused before it waits for a batch, so that errors come in the order of their fields. */
  const atOnce =
    <Asked extends readonly unknown[], Result>(read: (...asked: Asked) => Result) =>
    (...asked: Asked): Result => {
      callerOf()
      return read(...asked)
    }
  const ownUser = batchedRows(async (_ids, query) => [await users.me(callerOf(), query)])
  const auditEvent = batched((ns) => audit.findMany(callerOf(), ns.map(Number)))
  const quotaOf = batched(oneByOne(() => usage.quota(callerOf())))
  return {
    node: batched((ids) => findNodes(services, callerOf(), ids)),
    key: batchedRows((ids, query) => keys.findMany(callerOf(), ids, query)),
    managedKey: atOnce(batchedRows((ids, query) => keys.findManaged(callerOf(), ids, query))),
    currentKey: once(() => keys.current(callerOf())),
    user: batchedRows((ids, query) => users.findMany(callerOf(), ids, query)),
    managedUser: atOnce(batchedRows((ids, query) => users.findManaged(callerOf(), ids, query))),
    ownUser: (query) => foundOr(ownUser(callerOf().userId, query), 'user_not_found'),
    call: atOnce(batchedRows((ids, query) => calls.findMany(callerOf(), ids, query))),
    upload: atOnce(batchedRows((ids, query) => uploads.findMany(callerOf(), ids, query))),
    conversation: atOnce(batched(byId((ids) => conversations.findMany(callerOf(), ids)))),
    conversationOfCall: atOnce(batched((ids) => conversations.ofCalls(callerOf(), ids))),
    pause: atOnce(batched((ids) => conversations.openPauses(callerOf(), ids))),
    refusal: atOnce(batched((ids) => refusals.findMany(callerOf(), ids))),
    auditEvent: atOnce((n) => auditEvent(String(n))),
    instance: batched(byId((ids) => calls.findInstances(callerOf(), ids))),
    agent: batched(byId(async (ids) => agents.findMany(callerOf(), ids))),
    keysOf: batchedBy(
      ({ query, filter }) =>
        (ids) =>
          keys.listOfOwners(callerOf(), ids, { ...query, signal }, filter),
    ),
    keyCountOf: batchedBy((filter) => (ids) => keys.countOfOwners(callerOf(), ids, filter, signal)),
    callsOfKey: batchedBy(callsOf('key')),
    callsOfOwner: batchedBy(callsOf('owner')),
    uploadsOfKey: batchedBy(
      ({ query }) =>
        (ids) =>
          uploads.listOfKeys(callerOf(), ids, query),
    ),
    uploadCountOfKey: batched((ids) => uploads.countOfKeys(callerOf(), ids)),
    uploadsOfOwner: batchedBy(({ query }) =>
      oneByOne((ownerId) => uploads.list(callerOf(), query, { ownerId })),
    ),
    uploadCountOfOwner: batched(oneByOne((ownerId) => uploads.count(callerOf(), { ownerId }))),
    report: batchedBy((input) => (ids) => usage.reportsOfKeys(callerOf(), ids, input, onLimit, signal)),
    reportBefore: batchedBy(
      (report) => (ids) => usage.reportsBeforeOfKeys(callerOf(), ids, report, signal),
      ({ totals: _totals, points: _points, groups: _groups, keyId: _keyId, ...query }) => query,
    ),
    quota: async () => (await quotaOf(callerOf().userId)) ?? fail('user_not_found'),
  }
}

/** Reads at the first call, and returns the same result from then on. */
function once<Result>(read: () => Promise<Result>): () => Promise<Result> {
  let reading: Promise<Result> | undefined
  return () => {
    reading ??= markRejectionHandled(read())
    return reading
  }
}

/** Reads one after the other, for what only one of the ids can have, such as the uploads of the caller's own user. */
function oneByOne<Row>(readOne: (id: string) => Promise<Row>): ReadMany<Row> {
  return async (ids) => {
    const rows = new Map<string, Row>()
    for (const id of ids) rows.set(id, await readOne(id))
    return rows
  }
}
