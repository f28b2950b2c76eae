import type { Runtime } from '#core/base/runtime.ts'
import type { Sql } from '#core/database/database.ts'
import type { FileStorage, StoredFile } from './storage/storage.ts'
import { beginExpired, finishDeletions, unfinishedDeletions } from './upload-rows.ts'

/** Deletes what is not needed any more. Several processes may do so at once. */
export type UploadSweep = ReturnType<typeof createUploadSweep>

export interface SweptOrphans {
  /** Files without a record. */
  readonly files: number
  /** Records without a file. */
  readonly records: number
  /** Parts of uploads that never ended. */
  readonly unfinished: number
  /** Records without a file that were kept, because there are too many of them: the storage is probably the wrong one. */
  readonly suspicious: number
}

export interface UploadSweepDeps {
  readonly sql: Sql
  readonly storage: FileStorage
  readonly runtime: Pick<Runtime, 'now'>
  /** What the tokens of this installation begin with. */
  installation(): string
  readonly observer: SweepObserver
  /** The most files, and the most records, that one comparison deletes. What is beyond is left to the next one. */
  readonly orphansAtOnce?: number
}

export interface SweepObserver {
  /** Something was deleted. */
  swept(kind: SweptKind, count: number): void
}

/** Expired uploads, files without a record, records without a file, unfinished writes. */
export const SWEPT_KINDS = ['expired', 'file', 'record', 'unfinished'] as const
export type SweptKind = (typeof SWEPT_KINDS)[number]

const ROWS_AT_ONCE = 100
/**
 * Younger files may belong to an upload that is just being recorded, and younger parts to one that is just being received: it
 * takes half a day at most. S3 dates a file that arrived in parts from its first one.
 */
const FILE_AGE_MS = 86_400_000
/** Younger records may have got their files after these were listed. */
const RECORD_AGE_MS = 3_600_000
/** Above this count and a tenth of all records, records without files suggest that the wrong storage is configured. */
const LOST_RECORDS_MAX = 100

interface Orphans {
  readonly files: readonly StoredFile[]
  readonly records: readonly string[]
  /** How many records have no file. `records` contains only the first of them. */
  readonly recordsInAll: number
}

export function createUploadSweep(deps: UploadSweepDeps) {
  const { sql, storage, runtime, installation, observer, orphansAtOnce = 10_000 } = deps

  /** Walks through the listing of the storage and the records side by side, in the order of their tokens. */
  async function findOrphans(old: Date): Promise<Orphans> {
    const files: StoredFile[] = []
    const records: string[] = []
    let recordsInAll = 0
    let after = ''
    const compare = async (batch: readonly StoredFile[], upTo: string | undefined) => {
      const unknown = new Map(batch.map((file) => [file.address.token, file]))
      for await (const { id, token, is_old } of recordsBetween(sql, after, upTo)) {
        if (unknown.delete(token) || !is_old) continue
        recordsInAll += 1
        if (records.length < orphansAtOnce) records.push(id)
      }
      for (const file of unknown.values()) {
        if (file.modifiedAt < old && files.length < orphansAtOnce) files.push(file)
      }
      after = upTo ?? after
    }
    for await (const batch of storage.list(installation())) {
      const last = batch.at(-1)
      // A batch is empty where a page of S3 contained nothing of ours.
      if (last !== undefined) await compare(batch, last.address.token)
    }
    await compare([], undefined)
    return { files, records, recordsInAll }
  }

  /** Checks once more, since a record may have been written after its file was listed. */
  async function removeFiles(files: readonly StoredFile[]): Promise<number> {
    const tokens = files.map(({ address }) => address.token)
    const rows = await sql.query<{ token: string }>(
      'SELECT token FROM uploads WHERE token = ANY ($1::text[])',
      [tokens],
    )
    const known = new Set(rows.map(({ token }) => token))
    const unknown = files.map(({ address }) => address).filter(({ token }) => !known.has(token))
    await storage.remove(unknown)
    observer.swept('file', unknown.length)
    return unknown.length
  }

  async function forget(ids: readonly string[]): Promise<number> {
    await sql.query('UPDATE uploads SET deleted_at = clock_timestamp() WHERE id = ANY ($1::uuid[])', [ids])
    const count = await finishDeletions(sql, ids)
    observer.swept('record', count)
    return count
  }

  async function removeUnfinished(old: Date): Promise<number> {
    const count = await storage.removeUnfinished(old)
    observer.swept('unfinished', count)
    return count
  }

  async function removeOrphans(old: Date): Promise<Omit<SweptOrphans, 'unfinished'>> {
    const found = await findOrphans(old)
    const files = await inBatches(found.files, removeFiles)
    const lost = found.recordsInAll
    const isSuspicious = lost > LOST_RECORDS_MAX && lost * 10 > (await countRecords(sql))
    if (isSuspicious) return { files, records: 0, suspicious: lost }
    return { files, records: await inBatches(found.records, forget), suspicious: 0 }
  }

  return {
    /**
     * Deletes some of the uploads that have expired, with their files, and completes some deletions that were interrupted.
     *
     * @returns how many were deleted; 0 if there is nothing left to do
     */
    async expired(): Promise<number> {
      await beginExpired(sql, ROWS_AT_ONCE)
      const rows = await unfinishedDeletions(sql, ROWS_AT_ONCE)
      if (rows.length === 0) return 0
      await storage.remove(rows)
      const ids = rows.map(({ id }) => id)
      observer.swept('expired', await finishDeletions(sql, ids))
      return rows.length
    },
    /** Compares the storage with the records, and deletes what the other side does not know. */
    async orphans(): Promise<SweptOrphans> {
      const old = new Date(runtime.now().getTime() - FILE_AGE_MS)
      // The credentials of S3 may permit only one of the two listings.
      const [unfinished, orphans] = await Promise.allSettled([removeUnfinished(old), removeOrphans(old)])
      return { unfinished: settledValue(unfinished), ...settledValue(orphans) }
    },
  }
}

function settledValue<Value>(result: PromiseSettledResult<Value>): Value {
  if (result.status === 'rejected') throw result.reason
  return result.value
}

/** Adds up what `work` returns for each batch. */
async function inBatches<Item>(
  items: readonly Item[],
  work: (batch: readonly Item[]) => Promise<number>,
): Promise<number> {
  let sum = 0
  for (let at = 0; at < items.length; at += ROWS_AT_ONCE) {
    sum += await work(items.slice(at, at + ROWS_AT_ONCE))
  }
  return sum
}

interface RecordRow {
  readonly id: string
  readonly token: string
  readonly is_old: boolean
}

const RECORDS_AT_ONCE = 1_000

/** The records of one range of tokens, in their order. */
async function* recordsBetween(sql: Sql, after: string, upTo: string | undefined): AsyncGenerator<RecordRow> {
  for (let last: string | undefined = after; last !== undefined; ) {
    const rows: RecordRow[] = await sql.query<RecordRow>(
      `SELECT id, token, created_at < clock_timestamp() - make_interval(secs => $3) AS is_old FROM uploads
       WHERE token > $1 AND ($2::text IS NULL OR token <= $2) ORDER BY token LIMIT $4`,
      [last, upTo ?? null, RECORD_AGE_MS / 1000, RECORDS_AT_ONCE],
    )
    yield* rows
    last = rows.length < RECORDS_AT_ONCE ? undefined : rows.at(-1)?.token
  }
}

async function countRecords(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ count: number }>('SELECT count(*)::int4 AS count FROM uploads')
  return row?.count ?? 0
}
