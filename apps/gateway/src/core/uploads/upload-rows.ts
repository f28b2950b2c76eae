import { fail } from '#core/base/errors/errors.ts'
import type { Sql } from '#core/database/database.ts'
import type { PrismaClient, Upload } from '#generated/prisma/client.ts'
import { isAttachment } from './content/media-types.ts'
import type { FileAddress, NewFile } from './storage/storage.ts'

/** A file that is in the storage and gets its record. */
export type NewUpload = Omit<Upload, 'createdAt' | 'expiresAt' | 'deletedAt'>

export interface UploadBounds {
  readonly retentionDays: number
  /** The most bytes that the uploads of one user may have in all. */
  readonly bytesPerOwnerMax: number
}

/**
 * The bytes are added to the owner's sum by the same statement that inserts the row, and only if they fit. So the sum is
 * exact and uploads at the same time cannot pass the bound together. The times are the database's, and come from one
 * reading of its clock.
 */
const INSERT = `
WITH owner AS (
  UPDATE users SET upload_bytes = upload_bytes + $6 WHERE id = $8 AND upload_bytes + $6 <= $13 RETURNING id
), now AS MATERIALIZED (SELECT clock_timestamp() AS clock)
INSERT INTO uploads (id, call_id, token, url_name, filename, media_type, size, sha256, owner_id, key_id, agent, created_by, created_at, expires_at, end_user)
SELECT $1::uuid, $14::uuid, $2, $3, $4, $5, $6, $7, owner.id, $9::uuid, $10, $11, now.clock, now.clock + make_interval(days => $12), $15
FROM owner CROSS JOIN now
RETURNING created_at, expires_at`

/** @throws Problem `upload_space_used_up` */
export async function insertUpload(sql: Sql, upload: NewUpload, bounds: UploadBounds): Promise<Upload> {
  const { id, callId, token, urlName, filename, mediaType, size, sha256, ownerId, keyId, agent } = upload
  const { createdBy, endUser } = upload
  const { retentionDays, bytesPerOwnerMax } = bounds
  const values = [
    id,
    token,
    urlName,
    filename,
    mediaType,
    String(size),
    sha256,
    ownerId,
    keyId,
    agent,
    createdBy,
  ]
  const [row] = await sql.query<{ created_at: Date; expires_at: Date }>(INSERT, [
    ...values,
    retentionDays,
    String(bytesPerOwnerMax),
    callId,
    endUser,
  ])
  if (row === undefined) return refuseSpace(bytesPerOwnerMax)
  return { ...upload, createdAt: row.created_at, expiresAt: row.expires_at, deletedAt: null }
}

/** The bytes that the uploads of a user may still have. */
export async function spaceLeft(
  sql: Sql,
  ownerId: string,
  { bytesPerOwnerMax }: UploadBounds,
): Promise<number> {
  const [row] = await sql.query<{ bytes: string }>(
    'SELECT upload_bytes::text AS bytes FROM users WHERE id = $1',
    [ownerId],
  )
  return Math.max(0, bytesPerOwnerMax - Number(row?.bytes ?? 0))
}

export function spaceDetail(bytesPerOwnerMax: number): string {
  return `the uploads of a user may have at most ${bytesPerOwnerMax} bytes in all; delete some, or wait until they expire.`
}

function refuseSpace(bytesPerOwnerMax: number): never {
  fail('upload_space_used_up', { field: ['file'], detail: spaceDetail(bytesPerOwnerMax) })
}

/** A batch of files to which uploads refer. */
export interface UploadFiles {
  readonly files: readonly NewFile[]
  /** The id of the last upload; undefined if there are no further ones. */
  readonly last: string | undefined
}

const FILES_AT_ONCE = 1_000

/** The files of all uploads that exist, in the order of their ids. */
export async function uploadFiles(prisma: PrismaClient, after: string | undefined): Promise<UploadFiles> {
  const rows = await prisma.upload.findMany({
    where: { deletedAt: null, ...(after !== undefined && { id: { gt: after } }) },
    select: { id: true, token: true, urlName: true, mediaType: true },
    orderBy: { id: 'asc' },
    take: FILES_AT_ONCE,
  })
  const files = rows.map(({ token, urlName: name, mediaType }) => {
    return { token, name, mediaType, isAttachment: isAttachment(mediaType) }
  })
  return { files, last: rows.length < FILES_AT_ONCE ? undefined : rows.at(-1)?.id }
}

/** A row whose deletion has begun. */
export interface DeletedUpload extends FileAddress {
  readonly id: string
}

const DELETED_COLUMNS = 'id, token, url_name AS name'

/** Begins the deletion of uploads that have expired; a bounded number of them, which other processes do not see as well. */
export function beginExpired(sql: Sql, rowsMax: number): Promise<unknown[]> {
  return sql.query(
    `UPDATE uploads SET deleted_at = clock_timestamp() WHERE id IN (
       SELECT id FROM uploads WHERE deleted_at IS NULL AND expires_at <= clock_timestamp()
       ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED)
     RETURNING id`,
    [rowsMax],
  )
}

/** The rows whose deletion has begun and not ended, oldest first. */
export function unfinishedDeletions(sql: Sql, rowsMax: number): Promise<DeletedUpload[]> {
  return sql.query(
    `SELECT ${DELETED_COLUMNS} FROM uploads WHERE deleted_at IS NOT NULL ORDER BY deleted_at LIMIT $1`,
    [rowsMax],
  )
}

/**
 * Deletes rows whose files are gone and subtracts their bytes from their owners' sums. Owners are locked in the order of
 * their ids, as admissions do. Rows that another process has deleted meanwhile are not counted twice.
 */
const FINISH = `
WITH locked AS MATERIALIZED (
  SELECT id FROM users WHERE id IN (SELECT owner_id FROM uploads WHERE id = ANY ($1::uuid[])) ORDER BY id FOR NO KEY UPDATE
), gone AS (
  DELETE FROM uploads WHERE (SELECT count(*) FROM locked) > 0 AND id = ANY ($1::uuid[]) AND deleted_at IS NOT NULL
  RETURNING owner_id, size
)
UPDATE users u SET upload_bytes = u.upload_bytes - g.bytes
FROM (SELECT owner_id, sum(size)::bigint AS bytes, count(*)::int4 AS uploads FROM gone GROUP BY owner_id) g
WHERE u.id = g.owner_id RETURNING g.uploads`

/** @returns how many rows were deleted */
export async function finishDeletions(sql: Sql, ids: readonly string[]): Promise<number> {
  const owners = await sql.query<{ uploads: number }>(FINISH, [ids])
  return owners.reduce((sum, { uploads }) => sum + uploads, 0)
}
