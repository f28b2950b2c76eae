import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAudit } from '../../apps/gateway/src/core/audit/audit.ts'
import { verifyChain } from '../../apps/gateway/src/core/audit/verify-chain.ts'
import type { Database } from '../../apps/gateway/src/core/database/database.ts'
import { openDatabase } from '../../apps/gateway/src/core/database/open.ts'
import { printTable } from '../figures/print-table.ts'
import type { Stage } from '../stage.ts'

const WRITERS = 64
const EVENTS = 1_000
const EVENTS_QUICK = 50

/** Writers at once make one chain of the audit log, which is then verified. On PostgreSQL they share the connections of a process. */
export async function bench(stage: Stage): Promise<void> {
  const events = stage.isQuick ? EVENTS_QUICK : EVENTS
  const scratch = await stage.database()
  const server = await openDatabase({ kind: 'server', url: scratch.url })
  stage.atEnd(() => server.close())
  const dataDir = await mkdtemp(join(tmpdir(), 'trunkline-bench-'))
  stage.atEnd(() => rm(dataDir, { recursive: true }))
  const embedded = await openDatabase({ kind: 'embedded', dataDir })
  stage.atEnd(() => embedded.close())
  console.log(`${WRITERS} writers, each ${events} events.`)
  printTable('database | events | an event | verified in | result', [
    [`PostgreSQL ${scratch.version}`, ...(await measure(server, events))],
    ['embedded', ...(await measure(embedded, events))],
  ])
}

async function measure(database: Database, events: number): Promise<string[]> {
  await database.migrate()
  const audit = createAudit(database)
  const startedMs = performance.now()
  await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      for (let n = 0; n < events; n += 1) {
        const who = { actor: 'token', userId: `user-${writer}`, address: '192.0.2.1' } as const
        await audit.append(who, {
          operation: 'users.update',
          target: 'user',
          targetId: String(n),
          after: { n },
        })
      }
    }),
  )
  const writtenMs = performance.now()
  const state = await verifyChain(database.sql)
  return [
    String(state.events),
    `${((writtenMs - startedMs) / state.events).toFixed(2)} ms`,
    `${((performance.now() - writtenMs) / 1_000).toFixed(1)} s`,
    state.faults.length === 0 && state.events === WRITERS * events
      ? 'the chain holds'
      : JSON.stringify(state),
  ]
}
