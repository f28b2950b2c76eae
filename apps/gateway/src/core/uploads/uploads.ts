import { validate } from 'uuid'
import type { Agent } from '#core/agents/adapter.ts'
import { handled } from '#core/async/handled.ts'
import { InFlight } from '#core/async/in-flight.ts'
import { sleep } from '#core/async/sleep.ts'
import { type Columns, columnsOf } from '#core/database/columns-of.ts'
import { readPagesOfLists } from '#core/database/pages-of-lists.ts'
import { validIds } from '#core/database/valid-ids.ts'
import { AMPLE_SPACE, type DiskSpace } from '#core/disk/disk-space.ts'
import { fail, Problem } from '#core/errors.ts'
import { type ListQuery, readList } from '#core/input/pagination.ts'
import { isManager, type Principal } from '#core/principal.ts'
import { OwnerTurns, type WaitingPlaces } from '#core/sharing/owner-turns.ts'
import { omitUndefined } from '#core/values/omit-undefined.ts'
import { Prisma, type PrismaClient, type Upload } from '#generated/prisma/client.ts'
import { isAttachment } from './content/media-types.ts'
import { type ReceiveDeps, ReceivedUpload, type UploadNews } from './receive-upload.ts'
import { isFileName } from './storage/file-address.ts'
import { type FileAddress, FileMissing, StorageError } from './storage/storage.ts'
import { agentOfUpload, requireUploadKey, type UploadPart, type UploadRequest } from './upload-request.ts'
import { finishDeletions } from './upload-rows.ts'

export interface UploadsDeps extends ReceiveDeps {
  readonly prisma: PrismaClient
  readonly agents: ReadonlyMap<string, Agent>
  /** Defaults to {@link AMPLE_SPACE}. */
  readonly space?: Pick<DiskSpace, 'requireSpace'>
  readonly turns: UploadTurns
}

/** How many uploads a process receives at once. Others wait unread, and owners take turns. */
export interface UploadTurns {
  readonly inFlightMax: number
  readonly inFlightPerOwnerMax: number
  readonly waitMs: number
  readonly places?: WaitingPlaces | undefined
}

/** The columns and relations to read; whole rows by default. */
export type UploadQuery = Columns<Prisma.UploadSelect, Prisma.UploadInclude>

/** Selects the uploads of a user or a key; an invalid id matches nothing. */
export interface UploadFilter {
  readonly ownerId?: string | undefined
  readonly keyId?: string | undefined
}

/** The columns that identify a file in the storage, and how long its URL works. */
export type StoredUpload = Pick<Upload, 'token' | 'urlName' | 'expiresAt'>

/**
 * Uploaded files. A user sees its own uploads; an API key without `admin` sees those that were made with it. Methods return
 * Prisma's rows. An upload that has expired or whose deletion has begun does not exist for any caller.
 */
export interface Uploads {
  /**
   * Checks what can be checked before the body arrives: the key's permission and the agent.
   *
   * @throws Problem `api_key_required`, `permission_denied`, `unknown_agent`, `agent_denied`, `draining`, `rate_limited`,
   * `unavailable`
   */
  requireUploader(caller: Principal, agent: string | undefined): void
  /**
   * Receives a file and stores it. The body is not read before it is the turn of the owner. The upload is counted at the
   * first byte of the file.
   *
   * @param signal - aborts when the client is gone
   * @throws Problem what {@link Uploads.requireUploader} and admission throw, `rate_limited` if the owner's turn does not
   * come in time, `invalid_request`, `body_too_large`,
   * `file_type_not_accepted`, `upload_space_used_up`; `unavailable` if the storage or the database fails
   */
  receive(
    caller: Principal,
    request: UploadRequest,
    parts: AsyncIterator<UploadPart>,
    signal: AbortSignal,
    news: UploadNews,
  ): Promise<Upload>
  /** @throws Problem `upload_not_found` if it does not exist or the caller may not see it */
  find(caller: Principal, id: string, query?: UploadQuery): Promise<Upload>
  /** The uploads with these ids that the caller may see, in one statement and in no particular order. */
  findMany(caller: Principal, ids: readonly string[], query?: UploadQuery): Promise<Upload[]>
  /** Newest first. */
  list(caller: Principal, query: ListQuery & UploadQuery, filter?: UploadFilter): Promise<Upload[]>
  count(caller: Principal, filter?: UploadFilter): Promise<number>
  /** The same page of the uploads of several keys, by key; at most two statements. */
  listOfKeys(
    caller: Principal,
    keyIds: readonly string[],
    query: ListQuery & UploadQuery,
  ): Promise<Map<string, Upload[]>>
  /** How many uploads each of several keys has; keys without any are left out. */
  countOfKeys(caller: Principal, keyIds: readonly string[]): Promise<Map<string, number>>
  /** The condition that limits `find`, `list` and `count`, for queries that reach uploads through a relation. */
  visibleTo(caller: Principal): Prisma.UploadWhereInput
  /**
   * Removes the file, its URL and its record. If the storage fails, the upload no longer exists for callers, and a
   * repetition or the sweep completes the removal.
   *
   * @throws Problem `upload_not_found`, `unavailable`
   */
  remove(caller: Principal, id: string): Promise<void>
  /** A URL of the file that works until the upload expires, or as long as the storage can sign for. */
  urlOf(upload: StoredUpload): Promise<string>
  /**
   * The upload that a public URL leads to, with the file where it is on a local disk. The address is the authorization.
   *
   * @throws Problem `upload_not_found`
   */
  openByAddress(address: FileAddress): Promise<OpenedUpload>
}

export interface OpenedUpload {
  readonly upload: Upload
  /** Of the file on the local disk. */
  readonly path: string
  /** Whether browsers must save the file instead of showing it. */
  readonly isAttachment: boolean
}

/** What the process does with uploads in progress. */
export interface UploadsInProgress {
  /** Refuses new uploads, waits for the running ones until the timeout, and then ends those that are left. */
  drain(timeoutMs: number): Promise<void>
}

export function createUploads(deps: UploadsDeps): { uploads: Uploads; inProgress: UploadsInProgress } {
  const { prisma, sql, storage, agents, runtime, space = AMPLE_SPACE } = deps
  const turns = turnsOf(deps.turns)
  const running = new InFlight<{ received: ReceivedUpload; ended: Promise<unknown> }>()
  let isDraining = false

  const visibleTo = (caller: Principal): Prisma.UploadWhereInput => {
    if (isManager(caller)) return { ...live(), ownerId: caller.userId }
    return { ...live(), keyId: requireUploadKey(caller).keyId }
  }
  /** The condition of {@link visibleTo} in SQL. */
  const visibleInSql = (caller: Principal): Prisma.Sql => {
    const { ownerId, keyId } = visibleTo(caller)
    const mine = ownerId === undefined ? Prisma.sql`key_id = ${keyId}` : Prisma.sql`owner_id = ${ownerId}`
    return Prisma.sql`${mine}::uuid AND deleted_at IS NULL AND expires_at > ${runtime.now()}::timestamptz`
  }
  /** Undefined if no upload can match: the caller sees none of another owner, and an id that is no UUID matches nothing. */
  const whereOf = (caller: Principal, filter: UploadFilter): Prisma.UploadWhereInput | undefined => {
    const visible = visibleTo(caller)
    const ids = omitUndefined({ ownerId: filter.ownerId, keyId: filter.keyId })
    const isPossible =
      Object.values(ids).every((id) => validate(id)) && (ids.ownerId ?? caller.userId) === caller.userId
    return isPossible ? { AND: [visible, ids] } : undefined
  }
  async function list(caller: Principal, query: ListQuery & UploadQuery, filter: UploadFilter = {}) {
    const visible = whereOf(caller, filter)
    const columns = columnsOf(query)
    return readList(query, async ({ where, ...keyset }) =>
      visible === undefined
        ? []
        : prisma.upload.findMany({ ...columns, ...keyset, where: { ...where, AND: [visible] } }),
    )
  }
  const live = () => ({ deletedAt: null, expiresAt: { gt: runtime.now() } })

  function pathOf(address: FileAddress): string | undefined {
    try {
      return storage.pathOf?.(address)
    } catch (error) {
      if (error instanceof FileMissing) return undefined
      throw error
    }
  }

  function requireUploader(caller: Principal, agent: string | undefined): string {
    const agentId = agentOfUpload(agents, requireUploadKey(caller), agent)
    if (isDraining) throw new Problem('draining')
    space.requireSpace()
    turns.requirePlace({ owner: caller.userId })
    return agentId
  }

  return {
    uploads: {
      requireUploader,
      async receive(caller, request, parts, signal, news) {
        const agent = requireUploader(caller, request.agent)
        const endTurn = await turns.take({ owner: caller.userId, signal })
        const received = new ReceivedUpload(deps, request, agent, news)
        const gone = () => received.end('client_gone', new Problem('invalid_request', CLIENT_GONE))
        const receiving = handled(received.receive(parts))
        const remove = running.add({ received, ended: receiving.catch(() => undefined) })
        try {
          if (signal.aborted) gone()
          else signal.addEventListener('abort', gone, { once: true })
          return await receiving
        } finally {
          signal.removeEventListener('abort', gone)
          remove()
          endTurn()
        }
      },
      async find(caller, id, query = {}) {
        const visible = visibleTo(caller)
        if (!validate(id)) fail('upload_not_found')
        const upload = await prisma.upload.findFirst({ ...columnsOf(query), where: { id, AND: [visible] } })
        return upload ?? fail('upload_not_found')
      },
      async findMany(caller, ids, query = {}) {
        const where = { id: { in: validIds(ids) }, AND: [visibleTo(caller)] }
        return where.id.in.length === 0 ? [] : prisma.upload.findMany({ ...columnsOf(query), where })
      },
      list,
      async count(caller, filter = {}) {
        const where = whereOf(caller, filter)
        return where === undefined ? 0 : prisma.upload.count({ where })
      },
      async listOfKeys(caller, keyIds, query) {
        return readPagesOfLists(query, keyIds, {
          ...{ prisma, table: 'uploads', parentColumn: 'key_id' },
          where: visibleInSql(caller),
          readOne: (keyId) => list(caller, query, { keyId }),
          readRows: (ids) =>
            prisma.upload.findMany({
              ...columnsOf(query),
              where: { id: { in: [...ids] }, AND: [visibleTo(caller)] },
            }),
        })
      },
      async countOfKeys(caller, keyIds) {
        const counts = await prisma.upload.groupBy({
          by: ['keyId'],
          where: { keyId: { in: validIds(keyIds) }, AND: [visibleTo(caller)] },
          _count: { _all: true },
        })
        return new Map(counts.map(({ keyId, _count }) => [keyId, _count._all]))
      },
      visibleTo,
      async remove(caller, id) {
        // A deletion that has begun can be repeated, so its row is found although it is not visible any more.
        const { deletedAt: _live, ...visible } = visibleTo(caller)
        if (!validate(id)) fail('upload_not_found')
        const [row] = await prisma.upload.updateManyAndReturn({
          where: { id, AND: [visible] },
          data: { deletedAt: runtime.now() },
        })
        if (row === undefined) fail('upload_not_found')
        await storage.remove([addressOf(row)]).catch(refuseStorage)
        await finishDeletions(sql, [row.id])
      },
      urlOf: (upload) => storage.urlOf(addressOf(upload), upload.expiresAt),
      async openByAddress(address) {
        const path = isFileName(address.name) ? pathOf(address) : undefined
        const where = { token: address.token, urlName: address.name, ...live() }
        const upload = path === undefined ? null : await prisma.upload.findFirst({ where })
        if (path === undefined || upload === null) return fail('upload_not_found')
        return { upload, path, isAttachment: isAttachment(upload.mediaType) }
      },
    },
    inProgress: {
      async drain(timeoutMs) {
        isDraining = true
        turns.close('draining')
        const all = handled(Promise.all(running.all().map(({ ended }) => ended)))
        await Promise.race([all, sleep(timeoutMs)])
        for (const { received } of running.all()) received.end('drained', new Problem('draining'))
        await all
      },
    },
  }
}

function turnsOf({ inFlightMax, inFlightPerOwnerMax, waitMs, places }: UploadTurns): OwnerTurns {
  return new OwnerTurns({
    ...{ atOnce: inFlightMax, perOwner: inFlightPerOwnerMax, waitMs },
    ...(places !== undefined && { places }),
    what: 'uploads',
  })
}

export function addressOf({ token, urlName }: Pick<Upload, 'token' | 'urlName'>): FileAddress {
  return { token, name: urlName }
}

function refuseStorage(error: unknown): never {
  if (!(error instanceof StorageError)) throw error
  fail('unavailable', {
    detail: 'The file could not be removed from the storage yet; its URL may still work.',
    retryAfterSeconds: 5,
    cause: error,
  })
}

const CLIENT_GONE = { detail: 'The client closed the connection.' }
