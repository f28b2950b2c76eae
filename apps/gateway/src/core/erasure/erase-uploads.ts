import type { Sql } from '#core/database/database.ts'
import { type FileAddress, type FileStorage, StorageError } from '#core/uploads/storage/storage.ts'
import { finishDeletions } from '#core/uploads/upload-rows.ts'
import type { EndUser } from './erase-ledger.ts'

export interface EraseUploadsDeps {
  readonly sql: Sql
  readonly storage: Pick<FileStorage, 'remove'>
}

const FILES_AT_ONCE = 100

/**
 * Deletes the files that name an end user, and those that agents have made in its calls. Where the storage fails, they can be read no
 * more, and a repetition or the sweep removes them.
 *
 * @param idAtPlatforms - under which platforms keep copies of files of others that this end user has sent
 * @returns how many were deleted
 */
export async function eraseUploads(
  { sql, storage }: EraseUploadsDeps,
  { ownerId, endUser }: EndUser,
  idAtPlatforms: string,
): Promise<number> {
  await sql.query(FORGET_COPIES, [ownerId, idAtPlatforms])
  let deleted = 0
  for (;;) {
    const files = await sql.query<FileAddress & { readonly id: string }>(BEGIN, [
      ownerId,
      endUser,
      FILES_AT_ONCE,
    ])
    if (files.length === 0) return deleted
    try {
      await storage.remove(files)
    } catch (error) {
      if (error instanceof StorageError) return deleted
      throw error
    }
    await finishDeletions(
      sql,
      files.map(({ id }) => id),
    )
    deleted += files.length
  }
}

/** `$1` owner, `$2` end user, `$3` files at most. */
const BEGIN = `
UPDATE uploads SET deleted_at = coalesce(deleted_at, now()), end_user = $2
WHERE id IN (
  SELECT u.id FROM uploads u LEFT JOIN calls c ON c.id = u.call_id
  WHERE u.owner_id = $1::uuid AND (u.end_user = $2 OR (u.end_user = '' AND c.end_user = $2))
  ORDER BY u.id LIMIT $3)
RETURNING id::text, token, url_name AS name`

/** `$1` owner, `$2` the id of the end user at platforms. */
const FORGET_COPIES = `
DELETE FROM upload_copies c USING uploads u WHERE u.id = c.upload_id AND u.owner_id = $1::uuid AND c.end_user = $2`
