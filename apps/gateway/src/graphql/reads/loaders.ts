import type { AgentInfo } from '#core/agents/directory.ts'
import { type Batcher, createBatcher } from '#core/async/batcher.ts'
import type { Columns } from '#core/database/columns-of.ts'
import type { ListQuery } from '#core/input/pagination.ts'
import type { KeyFilter, KeyOrder } from '#core/keys/key-filter.ts'
import type { OnLimit } from '#core/limits/limits.ts'
import type { Listed, OrderedQuery } from '#core/lists/ordered-lists.ts'
import type { Principal } from '#core/principal.ts'
import type { CallParent } from '#core/reports/calls-of.ts'
import type { ReportInput } from '#core/reports/report-query.ts'
import type { Report } from '#core/reports/reports.ts'
import type { ScopeFilter } from '#core/reports/scope.ts'
import type { Services } from '#core/services/services.ts'
import type { ApiKey, Call, Upload, User } from '#generated/prisma/client.ts'

/** What Pothos asks for at a field; the same for all rows of a level. */
type Query = Columns<object, object>
type OwnedFilter = Omit<KeyFilter, 'ownerId'>
interface Page {
  readonly query: ListQuery & Query
}

/**
 * Looks up rows that are not relations of the database, such as the key of a call, by their ids: all rows of one level of a
 * query in one statement, each under the caller's filter of the service. A row that does not exist or that the caller may
 * not see is null.
 */
export interface Loaders {
  key(id: string, query: Query): Promise<ApiKey | null>
  user(id: string, query: Query): Promise<User | null>
  call(id: string, query: Query): Promise<Call | null>
  agent(id: string): Promise<AgentInfo | null>
  /** A page of the keys of an owner; the pages of one level have the same arguments. */
  keysOf(
    ownerId: string,
    page: { readonly query: OrderedQuery<KeyOrder> & Query; readonly filter: OwnedFilter },
  ): Promise<Listed<ApiKey>[] | null>
  keyCountOf(ownerId: string, filter: OwnedFilter): Promise<number | null>
  /** A page of the calls of a key or of the keys of a user, which takes one point of the rate limit for the whole level. */
  callsOfKey(keyId: string, page: Page): Promise<Call[] | null>
  callsOfOwner(ownerId: string, page: Page): Promise<Call[] | null>
  /** A page of the uploads of a key. */
  uploadsOf(keyId: string, page: Page): Promise<Upload[] | null>
  uploadCountOf(keyId: string): Promise<number | null>
  /** The report of a key. */
  report(keyId: string, input: Omit<ReportInput, keyof ScopeFilter>): Promise<Report | null>
}

/** @param callerOf - is called when something is loaded, since not every request has a caller */
export function createLoaders(
  services: Services,
  callerOf: () => Principal,
  onLimit: OnLimit,
  signal: AbortSignal,
): Loaders {
  const { keys, users, usage, uploads, agents } = services
  const byId = <Row extends { id: string }>(read: (ids: readonly string[]) => Promise<readonly Row[]>) =>
    async function readById(ids: readonly string[]) {
      return new Map((await read(ids)).map((row) => [row.id, row]))
    }
  const callsOf =
    (parent: CallParent) =>
    ({ query }: Page) =>
    (ids: readonly string[]) =>
      usage.callsOf(callerOf(), { parent, ids }, query, onLimit, signal)
  return {
    key: batchedBy((query) => byId((ids) => keys.findMany(callerOf(), ids, query))),
    user: batchedBy((query) => byId((ids) => users.findMany(callerOf(), ids, query))),
    call: batchedBy((query) => byId((ids) => usage.findCalls(callerOf(), ids, query))),
    agent: batched(byId(async (ids) => agents.findMany(callerOf(), ids))),
    keysOf: batchedBy(
      ({ query, filter }) =>
        (ids) =>
          keys.listOfOwners(callerOf(), ids, { ...query, signal }, filter),
    ),
    keyCountOf: batchedBy((filter) => (ids) => keys.countOfOwners(callerOf(), ids, filter, signal)),
    callsOfKey: batchedBy(callsOf('key')),
    callsOfOwner: batchedBy(callsOf('owner')),
    uploadsOf: batchedBy(
      ({ query }) =>
        (ids) =>
          uploads.listOfKeys(callerOf(), ids, query),
    ),
    uploadCountOf: batched((ids) => uploads.countOfKeys(callerOf(), ids)),
    report: batchedBy((input) => (ids) => usage.reportsOfKeys(callerOf(), ids, input, onLimit, signal)),
  }
}

type ReadMany<Row> = (ids: readonly string[]) => Promise<ReadonlyMap<string, Row>>

/** The most ids in one statement. */
const IDS_MAX = 1_000

/** A batch is what the resolvers of one level ask for, which may take them some rounds of microtasks. */
const gather = () => new Promise<void>((resolve) => setImmediate(resolve))

function batched<Row>(read: ReadMany<Row>): Batcher<string, Row | null> {
  const readAll = async (ids: readonly string[]) => {
    const rows = await read(ids)
    return ids.map((id) => rows.get(id) ?? null)
  }
  return createBatcher(readAll, { sizeMax: IDS_MAX, isShared: () => true, gather })
}

/** One batch for each different argument, since one statement reads the same columns of all its rows. */
function batchedBy<Argument, Row>(readOf: (argument: Argument) => ReadMany<Row>) {
  const batches = new Map<string, Batcher<string, Row | null>>()
  return (id: string, argument: Argument): Promise<Row | null> => {
    const name = JSON.stringify(argument)
    const batch = batches.get(name) ?? batched(readOf(argument))
    batches.set(name, batch)
    return batch(id)
  }
}
