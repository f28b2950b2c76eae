import type { Lookups } from '#core/agents/upstream/pools.ts'
import { AMPLE_SPACE } from '#core/database/disk/disk-space.ts'
import { OwnerTurns, type WaitingPlaces } from '#core/limits/sharing/owner-turns.ts'
import type { UploadTimes } from '#core/uploads/incoming/upload-waits.ts'
import { CallFiles, type KeepingCall, type KeepingParts } from './call-files.ts'
import { createFileFetcher } from './fetch-file.ts'

export type FileKeeper = ReturnType<typeof createFileKeeper>

export interface FileKeeperDeps extends Omit<KeepingParts, 'space' | 'times' | 'fetcher' | 'turns'> {
  /** Defaults to {@link AMPLE_SPACE}. */
  readonly space?: KeepingParts['space']
  readonly places?: WaitingPlaces | undefined
  /** How names are looked up; by default as the system is configured. */
  readonly lookups?: Partial<Lookups>
  readonly times?: UploadTimes
}

const KEPT_BYTES_MAX = 50 * 1024 * 1024
/** The client waits for the file, so it is given up earlier than an upload. The time includes the wait for a turn. */
const TIMES: UploadTimes = { stalledMs: 10_000, timeoutMs: 30_000 }
/** Fewer than uploads, beside which they run. Whoever waits too long keeps the platform's URL, so an owner delays only itself. */
const AT_ONCE = 16
const AT_ONCE_OF_OWNER = 4

/** Stores files that agents make as uploads of the owner of the call. */
export function createFileKeeper(deps: FileKeeperDeps) {
  const { space = AMPLE_SPACE, places, lookups, times = TIMES } = deps
  const fetcher = createFileFetcher(lookups)
  const turns = new OwnerTurns({
    atOnce: AT_ONCE,
    perOwner: AT_ONCE_OF_OWNER,
    waitMs: times.timeoutMs,
    what: 'files of agents',
    ...(places !== undefined && { places }),
  })
  const bounds = { ...deps.bounds, maxBytes: Math.min(deps.bounds.maxBytes, KEPT_BYTES_MAX) }
  const parts: KeepingParts = { ...deps, space, bounds, times, fetcher, turns }

  return {
    ofCall: (call: KeepingCall) => new CallFiles(parts, call),
    async close() {
      turns.close('draining')
      await fetcher.close()
    },
  }
}
