import type { SecretKeys } from '#core/accounts/auth/stored-secrets.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { Database, Sql } from '#core/database/database.ts'
import { createReplayCount, type ReplayCount } from './count-replays.ts'
import { createKeptCallReaders, type KeptCallReaders } from './kept-call-readers.ts'
import { createPartCodec } from './part-codec.ts'
import { createReplyReader, type ReplyReader } from './reply-reader.ts'
import { createReplyUpkeep, type KeptBounds, type ReplyUpkeep } from './reply-upkeep.ts'
import { createReplyWriter, type ReplyWriter } from './reply-writer.ts'
import { createKeptCallStops, type KeptCallStops } from './stop-kept-calls.ts'

/** Kept calls and their logs in the database, which is authoritative for every process. */
export type ReplyStore = ReplyWriter &
  ReplyReader &
  KeptCallStops &
  KeptCallReaders &
  ReplayCount &
  ReplyUpkeep

export interface ReplyStoreDeps {
  readonly database: Pick<Database, 'sql' | 'kind'>
  /** For the upkeep of calls whose process has ended; defaults to that of the database. */
  readonly upkeepSql?: Sql
  readonly randomBytes: Runtime['randomBytes']
  readonly secretKeys: SecretKeys
  readonly bounds: KeptBounds
}

/** Every statement takes a bounded number of rows, and all times are those of the database's clock. */
export function createReplyStore({
  database,
  upkeepSql = database.sql,
  randomBytes,
  secretKeys,
  bounds,
}: ReplyStoreDeps): ReplyStore {
  const { sql } = database
  const codec = createPartCodec(secretKeys, { randomBytes })
  return {
    ...createReplyWriter(database, codec),
    ...createReplyReader(sql, codec),
    ...createKeptCallStops(sql),
    ...createKeptCallReaders(sql),
    ...createReplayCount(sql),
    ...createReplyUpkeep(upkeepSql, bounds),
  }
}
