import pg from 'pg'
import { createUsageData } from './usage-data.ts'

const KEYS = 100_000
const AGENTS = 1_000
const DEPLOYMENTS = 50
const CONVERSATIONS = 10_000
/** A settlement writes to those of its hour, day and month. All of so many keys would take an hour to fill. */
const MONTHS_OF_ROLLUPS = 2

/** What an installation has after some years. */
const GROWN = `${KEYS} keys, ${AGENTS} agents, ${DEPLOYMENTS} deployments, ${CONVERSATIONS} conversations of the owner`

/** Fills the database of a gateway that has not been called, with this many calls, and gives its user conversations. */
export async function fillGrown(url: string, username: string, calls: number): Promise<void> {
  const data = await createUsageData(url, { keys: KEYS, isLogged: true })
  await data.loadCalls(calls, 0, 1)
  await data.rollUp(MONTHS_OF_ROLLUPS)
  console.log(`The grown gateway has ${GROWN}, and ${await data.sizes()}.`)
  await data.close()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(CONVERSATIONS_OF, [username, CONVERSATIONS])
  await client.query('VACUUM ANALYZE listed_conversations, users, api_keys')
  await client.end()
}

/** A configuration with many agents, of which the one that is called has many deployments of the same platform. */
export function grownSettings(agent: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { baseUrl, ...rest } = agent
  const others = Array.from({ length: AGENTS - 1 }, (_, n) => [`agent-${n}`, agent])
  const deployments = Array.from({ length: DEPLOYMENTS }, (_, n) => ({ id: `d${n}`, baseUrl }))
  const formerly = deployments.map((each, n) => (n === 0 ? { ...each, formerly: ['main'] } : each))
  return { agents: { ...Object.fromEntries(others), bench: { ...rest, deployments: formerly } } }
}

const CONVERSATIONS_OF = `
INSERT INTO listed_conversations (id, identity, owner_id, end_user, agent, app, conversation, created_at, last_activity_at)
SELECT gen_random_uuid(), sha256(('conversation ' || n)::bytea), u.id, '', 'bench', '', 'conversation-' || n,
  now() - n * interval '1 minute', now() - n * interval '1 minute'
FROM users u, generate_series(1, $2::int) n WHERE u.username = $1`
