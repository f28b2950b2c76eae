import { query } from '../../test/support/query.ts'
import { until } from '../../test/support/until.ts'
import { run } from '../load/load.ts'
import { GATEWAYS_MODEL, JSON_CALL } from '../load/workload.ts'
import { leaveServerCore } from '../servers/cores.ts'
import type { Stage } from '../stage.ts'
import type { Figures } from './figures.ts'

const CALLS = 10_000
const QUICK_CALLS = 1_000
const AT_ONCE = [1, 50]
const SHARE = 0.75
const POINTS_OFF_MAX = 3

/** The shares of two deployments whose weights are 3 and 1, of calls one after the other and of many at once. */
export async function measureWeights(stage: Stage, figures: Figures): Promise<void> {
  stage.atEnd(leaveServerCore())
  const database = await stage.database()
  const platform = await stage.platform()
  const baseUrl = `${platform.origin}/v1`
  const deployments = [
    { id: 'main', weight: 3 },
    { id: 'second', weight: 1 },
  ]
  const bench = { platform: 'openai', baseUrl, model: GATEWAYS_MODEL, deployments }
  const gateway = await stage.gateway(database.url, platform.origin, { settings: { agents: { bench } } })
  const calls = Number(stage.options.calls ?? (stage.isQuick ? QUICK_CALLS : CALLS))
  let main = 0
  let all = 0
  for (const concurrency of AT_ONCE) {
    await run(gateway, JSON_CALL, { calls, concurrency })
    const seen = await until('all calls are in the ledger', async () => {
      const rows = await query<{ deployment: string; count: number }>(
        database.url,
        'SELECT deployment, count(*)::int FROM calls WHERE ended_at IS NOT NULL GROUP BY deployment',
      )
      const sum = rows.reduce((total, { count }) => total + count, 0)
      return sum === all + calls && rows
    })
    const mainNow = seen.find(({ deployment }) => deployment === 'main')?.count ?? 0
    const share = (mainNow - main) / calls
    main = mainNow
    all += calls
    const pointsOff = Math.abs(share - SHARE) * 100
    figures.add(
      'weights',
      `${calls} calls, ${concurrency} at a time: ${(share * 100).toFixed(1)} % at the deployment with 3 of 4`,
      { text: `75 % ± ${POINTS_OFF_MAX} points`, isHeld: pointsOff <= POINTS_OFF_MAX },
    )
  }
}
