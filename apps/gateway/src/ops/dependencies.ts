import { createCachedValue } from '#core/base/async/cached-value.ts'
import { withDeadline } from '#core/base/async/deadline.ts'
import { OBSTACLES } from '#core/base/errors/connection-error.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { Database } from '#core/database/database.ts'
import { tooOld } from '#core/database/migrations/min-build.ts'
import type { Instances } from '#core/ledger/instances.ts'
import type { DiskWatch } from './disk-watch.ts'
import type { DependencyState } from './health.ts'

/** Clients of `/readyz` give up after a few seconds, so what takes longer than this counts as not ready. */
const WITHIN_MS = 1_000
/** Probes need no credential, so their results are cached to bound how often they query the dependencies. */
const CACHE_TTL_MS = 1_000

export interface DependencyDeps {
  readonly database: Pick<Database, 'pendingMigrations'>
  readonly instances: Pick<Instances, 'neededBuild'>
  /** The newest migration that this version knows. */
  readonly build: string
  readonly disk: Pick<DiskWatch, 'writability' | 'states'>
  /** Rejects if the storage of files does not answer. */
  pingStorage(): Promise<void>
  readonly redis: { readonly status: string } | undefined
  readonly runtime: Runtime
  /** Whether the start is complete. */
  readonly start: { readonly isPrepared: boolean }
}

/** Reads the states of what a process depends on; each is read at most once a second. */
export function createDependencyStates({
  database,
  instances,
  build,
  disk,
  pingStorage,
  redis,
  runtime,
  start,
}: DependencyDeps): () => Promise<Record<string, DependencyState>> {
  const cache = { runtime, ttlMs: CACHE_TTL_MS }
  const databaseAnswer = createCachedValue(() => databaseState(database), cache)
  const storageAnswer = createCachedValue(async () => storageState(pingStorage()), cache)
  const databaseNow = async (): Promise<DependencyState> => {
    if (!start.isPrepared) return { ok: false, detail: 'the start is not complete' }
    const { neededBuild } = instances
    if (neededBuild !== undefined) return { ok: false, detail: tooOld(build, neededBuild) }
    const state = await databaseAnswer.get()
    if (!state.ok) return state
    const { obstacle } = disk.writability
    if (obstacle === undefined) return { ...state, writable: true }
    return { ...state, writable: false, detail: `takes no writes: ${OBSTACLES[obstacle]}` }
  }
  return async () => ({
    database: await databaseNow(),
    ...disk.states(),
    storage: await storageAnswer.get(),
    ...(redis !== undefined && { redis: redisState(redis.status) }),
  })
}

async function databaseState(database: Pick<Database, 'pendingMigrations'>): Promise<DependencyState> {
  try {
    const pending = await withDeadline(WITHIN_MS, database.pendingMigrations())
    if (pending.length === 0) return { ok: true }
    return { ok: false, detail: `migrations are missing: ${pending.join(', ')}; run trunkline migrate` }
  } catch {
    return { ok: false, detail: 'the database does not answer' }
  }
}

/** Chats without files are served without the storage, so its failure does not make the process unready. */
async function storageState(ping: Promise<void>): Promise<DependencyState> {
  try {
    await withDeadline(WITHIN_MS, ping)
    return { ok: true, optional: true }
  } catch {
    return { ok: false, optional: true, detail: 'does not answer; uploads are refused' }
  }
}

/** Calls are served without Redis as well, so its failure is reported but does not make the process unready. */
function redisState(status: string): DependencyState {
  return status === 'ready'
    ? { ok: true }
    : { ok: true, detail: 'does not answer; limits are kept in memory' }
}
