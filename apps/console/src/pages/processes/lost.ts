import type { Process } from './versions-of.ts'

type Named = Pick<Process, 'id' | 'host' | 'pid'> & Partial<Pick<Process, 'port'>>
type Seen = Named & Pick<Process, 'port' | 'state' | 'startedAt' | 'lastSeenAt'>

/** Several gateways may run on one machine, and several processes of one gateway share its port. */
export function nameOf({ id, host, port = null, pid }: Named): string {
  if (host === null) return id
  const place = port === null ? host : `${host}:${port}`
  return pid === null ? place : `${place}, pid ${pid}`
}

interface Lost {
  readonly process: Seen
  /** The process that has taken its place, as far as the times and places tell. */
  readonly replacement: Seen | undefined
}

const DAY_MS = 86_400_000

/** The processes that were lost within a day, the last one first. */
export function lostWithinDay(processes: readonly Seen[], now: Date): readonly Lost[] {
  const since = now.getTime() - DAY_MS
  // Those that started first are the first to take a place, and each takes one alone.
  const free = [...processes].sort(byTime('startedAt'))
  return processes
    .filter(({ state, lastSeenAt }) => state === 'LOST' && Date.parse(lastSeenAt) >= since)
    .sort(byTime('lastSeenAt'))
    .map((process) => {
      const { host, port, lastSeenAt } = process
      const at = free.findIndex(
        (other) =>
          host !== null && other.host === host && other.port === port && other.startedAt > lastSeenAt,
      )
      return { process, replacement: at === -1 ? undefined : free.splice(at, 1)[0] }
    })
    .reverse()
}

const byTime = (name: 'startedAt' | 'lastSeenAt') => (one: Seen, other: Seen) =>
  one[name].localeCompare(other[name])
