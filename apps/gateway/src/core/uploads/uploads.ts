import { validate } from 'uuid'
import { whoIs } from '#core/audit/actor.ts'
import { eventJson } from '#core/audit/audit.ts'
import { fail } from '#core/base/errors/errors.ts'
import type { Runtime } from '#core/base/runtime.ts'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'
import { type Columns, columnsOf } from '#core/database/columns-of.ts'
import type { Sql } from '#core/database/database.ts'
import { readPagesOfLists } from '#core/database/pages-of-lists.ts'
import { validIds } from '#core/database/valid-ids.ts'
import type { OnLimit } from '#core/limits/limits.ts'
import type { TakeWrite } from '#core/limits/writes.ts'
import { type ListQuery, readList } from '#core/requests/input/pagination.ts'
import { isManager, type Principal } from '#core/requests/principal.ts'
import { Prisma, type PrismaClient, type Upload } from '#generated/prisma/client.ts'
import { isAttachment } from './content/media-types.ts'
import { isFileName } from './storage/file-address.ts'
import { type FileAddress, FileMissing, type FileStorage, StorageError } from './storage/storage.ts'
import { requireUploadKey } from './upload-request.ts'
import { finishDeletions } from './upload-rows.ts'

export interface UploadsDeps {
  readonly prisma: PrismaClient
  readonly sql: Sql
  readonly storage: FileStorage
  readonly runtime: Pick<Runtime, 'now'>
  readonly takeWrite: TakeWrite
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
 * Uploaded files. A user sees its own uploads; an API key without `admin` sees those that were made with it; a caller that is bound
 * to an end user sees of these only those of that one. Methods return Prisma's rows. An upload that has expired or whose deletion has begun does not exist for any caller.
 */
export type Uploads = ReturnType<typeof createUploads>

export interface OpenedUpload {
  readonly upload: Upload
  /** The path of the file on the local disk. */
  readonly path: string
  /** Whether browsers must save the file instead of showing it. */
  readonly isAttachment: boolean
}

export function createUploads({ prisma, sql, storage, runtime, takeWrite }: UploadsDeps) {
  const visibleTo = (caller: Principal) => {
    const { userId: ownerId, endUser } = caller
    const mine = isManager(caller) ? { ownerId } : { keyId: requireUploadKey(caller).keyId }
    return { ...live(), ...mine, ...(endUser !== undefined && { endUser }) }
  }
  /** The condition of {@link visibleTo} in SQL. */
  const visibleInSql = (caller: Principal): Prisma.Sql => {
    const visible = visibleTo(caller)
    const mine =
      'keyId' in visible
        ? Prisma.sql`key_id = ${visible.keyId}::uuid`
        : Prisma.sql`owner_id = ${visible.ownerId}::uuid`
    const { endUser } = visible
    const bound = endUser === undefined ? Prisma.sql`true` : Prisma.sql`end_user = ${endUser}`
    return Prisma.sql`${mine} AND ${bound} AND deleted_at IS NULL AND expires_at > ${runtime.now()}::timestamptz`
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

  return {
    /** @throws Problem `upload_not_found` if it does not exist or the caller may not see it */
    async find(caller: Principal, id: string, query: UploadQuery = {}): Promise<Upload> {
      const visible = visibleTo(caller)
      if (!validate(id)) fail('upload_not_found')
      const upload = await prisma.upload.findFirst({ ...columnsOf(query), where: { id, AND: [visible] } })
      return upload ?? fail('upload_not_found')
    },
    /** The uploads with these ids that the caller may see, in one statement and in no particular order. */
    async findMany(caller: Principal, ids: readonly string[], query: UploadQuery = {}): Promise<Upload[]> {
      const where = { id: { in: validIds(ids) }, AND: [visibleTo(caller)] }
      return where.id.in.length === 0 ? [] : prisma.upload.findMany({ ...columnsOf(query), where })
    },
    /** Newest first. */
    list,
    async count(caller: Principal, filter: UploadFilter = {}): Promise<number> {
      const where = whereOf(caller, filter)
      return where === undefined ? 0 : prisma.upload.count({ where })
    },
    /** The same page of the uploads of several keys, by key; at most two statements. */
    async listOfKeys(
      caller: Principal,
      keyIds: readonly string[],
      query: ListQuery & UploadQuery,
    ): Promise<Map<string, Upload[]>> {
      return readPagesOfLists(query, keyIds, {
        prisma,
        table: 'uploads',
        parentColumn: 'key_id',
        where: visibleInSql(caller),
        readOne: (keyId) => list(caller, query, { keyId }),
        readRows: (ids) =>
          prisma.upload.findMany({
            ...columnsOf(query),
            where: { id: { in: [...ids] }, AND: [visibleTo(caller)] },
          }),
      })
    },
    /** How many uploads each of several keys has; keys without any are left out. */
    async countOfKeys(caller: Principal, keyIds: readonly string[]): Promise<Map<string, number>> {
      const counts = await prisma.upload.groupBy({
        by: ['keyId'],
        where: { keyId: { in: validIds(keyIds) }, AND: [visibleTo(caller)] },
        _count: { _all: true },
      })
      return new Map(counts.map(({ keyId, _count }) => [keyId, _count._all]))
    },
    /**
     * Removes the file, its URL and its record. If the storage fails, the upload no longer exists for callers, and a
     * repetition or the sweep completes the removal.
     *
     * @throws Problem `upload_not_found`, `rate_limited`, `unavailable`
     */
    async remove(caller: Principal, id: string, onLimit?: OnLimit): Promise<void> {
      // A deletion that has begun can be repeated, so its row is found although it is not visible any more.
      const { deletedAt: _live, ...visible } = visibleTo(caller)
      if (!validate(id)) fail('upload_not_found')
      await takeWrite(caller, onLimit)
      const deletedAt = runtime.now()
      const event = eventJson(whoIs(caller), { operation: 'uploads.remove', target: 'upload', targetId: id })
      const [[row]] = await prisma.$transaction([
        prisma.upload.updateManyAndReturn({ where: { id, AND: [visible] }, data: { deletedAt } }),
        prisma.$executeRaw`
          SELECT audit_append(${event}::jsonb) FROM uploads WHERE id = ${id}::uuid AND deleted_at = ${deletedAt}`,
      ])
      if (row === undefined) fail('upload_not_found')
      await storage.remove([addressOf(row)]).catch(refuseStorage)
      await finishDeletions(sql, [row.id])
    },
    /** A URL of the file that works until the upload expires, or as long as the storage can sign for. */
    urlOf: (upload: StoredUpload): Promise<string> => storage.urlOf(addressOf(upload), upload.expiresAt),
    /**
     * The upload that a public URL leads to, with the file where it is on a local disk. The address is the authorization.
     *
     * @throws Problem `upload_not_found`
     */
    async openByAddress(address: FileAddress): Promise<OpenedUpload> {
      const path = isFileName(address.name) ? pathOf(address) : undefined
      const where = { token: address.token, urlName: address.name, ...live() }
      const upload = path === undefined ? null : await prisma.upload.findFirst({ where })
      if (path === undefined || upload === null) return fail('upload_not_found')
      return { upload, path, isAttachment: isAttachment(upload.mediaType) }
    },
  }
}

export function addressOf({ token, urlName }: Pick<Upload, 'token' | 'urlName'>): FileAddress {
  return { token, name: urlName }
}

function refuseStorage(error: unknown): never {
  if (!(error instanceof StorageError)) throw error
  fail('unavailable', {
    detail: 'The file could not be removed from the storage yet; its URL may still work.',
    limit: 'storage',
    retryAfterSeconds: 5,
    cause: error,
  })
}
