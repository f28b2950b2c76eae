import type { RememberedKeys } from '#core/accounts/keys/key-limits.ts'
import type { AgentCatalog } from '#core/agents/catalog.ts'
import { createRefusalRecorder, type RefusalRecorder } from '#core/refusals/refusal-recorder.ts'
import { logChanges } from '#ops/log-changes.ts'
import type { Surroundings } from './surroundings.ts'

export function buildRefusals(
  { database, runtime, metrics, disk, log }: Surroundings,
  {
    catalog,
    rememberedKeys,
  }: {
    readonly catalog: Pick<AgentCatalog, 'current'>
    readonly rememberedKeys: Pick<RememberedKeys, 'identityOf'>
  },
): RefusalRecorder {
  return createRefusalRecorder({
    sql: database.lanes.records.sql,
    runtime,
    space: disk.space,
    isAgent: (id) => catalog.current().has(id),
    identityOf: rememberedKeys.identityOf,
    observer: {
      dropped: metrics.refusalsDropped,
      recordable: logChanges(
        log,
        'refusals can be recorded again',
        'refusals cannot be recorded, so they are dropped',
      ),
    },
  })
}
