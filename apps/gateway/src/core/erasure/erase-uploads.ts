import type { Sql } from '#core/database/database.ts'
import { type FileAddress, type FileStorage, StorageError } from '#core/uploads/storage/storage.ts'
import { finishDeletions } from '#core/uploads/upload-rows.ts'
import type { EndUser } from './erase-ledger.ts'

export interface EraseUploadsDeps {
  readonly sql: Sql
  readonly storage: Pick<FileStorage, 'remove'>
  readonly stalledMs: number
}

const FILES_AT_ONCE = 100

/**
 * Deletes the files that name an end user, and those that agents have made in its calls. Where the storage fails, or takes longer than
 * `stalledMs` for all of them, they can be read no more, and a repetition or the sweep removes them.
 *
 * @param idAtPlatforms - under which platforms keep copies of files of others that this end user has sent
 * @returns how many were deleted
 */
export async function eraseUploads(
  { sql, storage, stalledMs }: EraseUploadsDeps,
  { ownerId, endUser }: EndUser,
  idAtPlatforms: string,
): Promise<number> {
  await sql.query(FORGET_COPIES, [ownerId, idAtPlatforms])
  const inTime = AbortSignal.timeout(stalledMs)
  let deleted = 0
  let hasFailed = false
  for (let last = ''; ; ) {
    const files = await sql.query<Row>(BEGIN, [ownerId, endUser, FILES_AT_ONCE, last])
    const ids = files.map(({ id }) => id)
    const end = ids.at(-1)
    if (end === undefined) return deleted
    last = end
    // The others are marked all the same: nothing but their rows will say whose they were.
    hasFailed ||= !(await isRemoved(storage.remove(files, inTime)))
    if (hasFailed) continue
    await finishDeletions(sql, ids)
    deleted += ids.length
  }
}

async function isRemoved(removal: Promise<void>): Promise<boolean> {
  try {
    await removal
    return true
  } catch (error) {
    if (error instanceof StorageError) return false
    throw error
  }
}

type Row = FileAddress & { readonly id: string }

/** `$1` owner, `$2` end user, `$3` files at most, `$4` the id after which they begin, or nothing. */
const BEGIN = `
WITH begun AS (
  UPDATE uploads SET deleted_at = coalesce(deleted_at, now()), end_user = $2
  WHERE id IN (
    SELECT u.id FROM uploads u LEFT JOIN calls c ON c.id = u.call_id
    WHERE u.owner_id = $1::uuid AND ($4 = '' OR u.id > nullif($4, '')::uuid)
      AND (u.end_user = $2 OR (u.end_user = '' AND c.end_user = $2))
    ORDER BY u.id LIMIT $3)
  RETURNING id, token, url_name AS name
)
SELECT id::text, token, name FROM begun ORDER BY begun.id`

/** `$1` owner, `$2` the id of the end user at platforms. */
const FORGET_COPIES = `
DELETE FROM upload_copies c USING uploads u WHERE u.id = c.upload_id AND u.owner_id = $1::uuid AND c.end_user = $2`
