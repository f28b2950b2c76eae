import type { LoadReader, ProcessLoads } from '#core/agents/deployments/load.ts'
import { createCachedValue } from '#core/base/async/cached-value.ts'
import { withDeadline } from '#core/base/async/deadline.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { Instances, ProcessIdentity } from './instances.ts'

/** The processes tell anything new only at their heartbeats, so that a listing need not read them each time. */
const CACHE_MS = 5_000
/** A listing does not wait for a database that hangs. */
const ANSWER_WITHIN_MS = 1_000

/** Reads what the live processes know: the others from the database, this one from itself. */
export function createProcessLoads({
  instances,
  identity,
  load,
  runtime,
}: {
  instances: Pick<Instances, 'loads' | 'hasJoined'>
  identity: ProcessIdentity
  load: LoadReader
  runtime: Pick<Runtime, 'elapsedMs'>
}): ProcessLoads {
  const told = createCachedValue(() => withDeadline(ANSWER_WITHIN_MS, instances.loads()), {
    runtime,
    ttlMs: CACHE_MS,
  })
  const { id: instance, host, pid, version } = identity
  return {
    async read() {
      const processes = await told.get().catch(() => [])
      if (!instances.hasJoined) return processes
      const others = processes.filter((process) => process.instance !== instance)
      return [{ instance, host, pid, version, agents: load.load() }, ...others]
    },
  }
}
