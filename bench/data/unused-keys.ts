import type { Api } from '../../test/support/api.ts'
import type { Figures } from '../figures/parts.ts'
import type { ScratchDatabase } from '../servers/scratch-database.ts'
import { fillKeys, leaveMostUnused, leaveOldestUnused } from './million-keys.ts'

const LIST_MS_MAX = 300

const LISTS: Readonly<Record<string, string>> = {
  'unused keys': '/api/v1/api-keys?unused_for=90d&limit=50',
  'expiring keys': '/api/v1/api-keys?expires_within=30d&limit=50',
}
interface Lists {
  readonly api: Api
  readonly token: string
  readonly database: ScratchDatabase
  /** The number of requests for each figure. */
  readonly count: number
}

const COUNT = '{ apiKeys(first: 1, unusedFor: "90d") { totalCount } }'

/** How long the lists of unused and of expiring keys take of a million, by how many and which were not used. */
export async function measureLists({ api, token, database, count }: Lists, figures: Figures): Promise<void> {
  const measure = async (place: string) => {
    for (const [name, path] of Object.entries(LISTS)) {
      const times = await timesOf(
        count,
        async () => (await api.call('GET', path, { token })).body.data.items.length,
      )
      figures.addTimes('unused', `${name}, ${place}:`, times, LIST_MS_MAX)
    }
    const sent = { token, body: { query: COUNT } }
    const total = async () => (await api.call('POST', '/graphql', sent)).body.data.apiKeys.totalCount
    const times = await timesOf(count / 5, total)
    figures.addTimes('unused', `the count of ${await total()} unused keys, ${place}:`, times, LIST_MS_MAX)
  }
  await fillKeys(database.url)
  await measure('few, without statistics')
  await database.analyze()
  await measure('few')
  await leaveOldestUnused(database.url)
  await database.analyze()
  await measure('the oldest tenth')
  await leaveMostUnused(database.url)
  await database.analyze()
  await measure('most')
}

async function timesOf(count: number, read: () => Promise<number>): Promise<number[]> {
  const times: number[] = []
  while (times.length < count) {
    const startedMs = performance.now()
    if ((await read()) === 0) throw new Error('nothing was found')
    times.push(performance.now() - startedMs)
  }
  return times
}
