import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { FILL_ROLLUPS } from '../../bench/data/fill-rollups.ts'
import { buildPackage } from '../support/built-package.ts'
import { startConsole } from '../support/console-page.ts'

/*
 * Makes the screenshots of the console in `docs/console` out of a gateway with two months of calls: `pnpm screenshots`. It needs
 * E2E_DATABASE_URL, a PostgreSQL server on which it may create a database, to write the history into.
 */

const PICTURES = new URL('../../docs/console/', import.meta.url)
const SIZE = { width: 1280, height: 860 }

const KEYS = [
  { name: 'Support desk', agents: ['fastgpt'], share: 9 },
  { name: 'Website assistant', agents: ['dify'], share: 6 },
  { name: 'Sales research', agents: ['coze', 'openai'], share: 3 },
  { name: 'Nightly summaries', agents: ['hiagent'], share: 2 },
]

/**
 * Calls of the last two months for one key: more on working days, around noon and by and by, with log-normal durations, and few
 * failures.
 * `$1` key, `$2` owner, `$3` agents, `$4` calls in a working hour.
 */
const HISTORY = `
INSERT INTO calls (id, request_id, key_id, owner_id, end_user, kind, face, agent, app, model, conversation, instance,
  outcome, reason, prompt_tokens, completion_tokens, total_tokens, admitted_at, first_chunk_ms, duration_ms, ended_at)
SELECT gen_random_uuid(), md5(random()::text), $1::uuid, $2::uuid, '', 'chat', 'rest', agent, 'demo', agent || '-large',
  md5(random()::text), gen_random_uuid(), outcome,
  CASE outcome WHEN 'timeout' THEN 'agent_timeout' WHEN 'upstream_error' THEN 'agent_error' END,
  CASE WHEN outcome = 'done' THEN words * 3 END, CASE WHEN outcome = 'done' THEN words END,
  CASE WHEN outcome = 'done' THEN words * 4 END, at, CASE WHEN outcome = 'done' THEN ms / 4 END, ms,
  at + ms * interval '1 millisecond'
FROM (
  SELECT ($3::text[])[1 + floor(random() * cardinality($3::text[]))::int] AS agent,
    hour + random() * interval '1 hour' AS at, 40 + (random() * 400)::int AS words,
    exp(7.6 + 0.5 * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()))::int AS ms,
    CASE WHEN random() < 0.97 THEN 'done' ELSE (ARRAY['timeout', 'upstream_error', 'client_gone'])[1 + floor(random() * 3)::int] END AS outcome
  FROM generate_series(date_trunc('hour', now()) - interval '61 days', now() - interval '1 hour', interval '1 hour') AS hour,
    generate_series(1, greatest(0, round($4::int * (0.6 + random() * 0.8) * (1 - extract(day FROM now() - hour) / 120)
      * exp(-((extract(hour FROM hour) - 13) ^ 2) / 18)
      * CASE WHEN extract(isodow FROM hour) > 5 THEN 0.25 ELSE 1 END))::int)
) AS call`

const COUNTERS = `
UPDATE api_keys k SET total_calls = c.all_calls, day_start = c.day, day_calls = c.of_day, month_start = c.month,
  month_calls = c.of_month, last_used_at = c.last
FROM (
  SELECT key_id, day, month, count(*) AS all_calls, max(admitted_at) AS last,
    count(*) FILTER (WHERE admitted_at >= day) AS of_day, count(*) FILTER (WHERE admitted_at >= month) AS of_month
  FROM calls, date_trunc('day', now(), 'UTC') AS day, date_trunc('month', now(), 'UTC') AS month
  GROUP BY key_id, day, month
) AS c
WHERE c.key_id = k.id`

// Outside of a test run nobody has built the console.
await buildPackage()
const opened = await startConsole({ settings: { conversations: { nameFromQuestion: true } } })
try {
  const { gateway, api, token } = opened.system
  if (gateway.databaseUrl === undefined) throw new Error('E2E_DATABASE_URL is required.')
  const people = await Promise.all(
    ['alice', 'bob'].map((name) => api.createUser(token, name, { role: 'premium' })),
  )
  for (const [n, { name, agents, share }] of KEYS.entries()) {
    const key = await api.createKey(token, {
      name,
      owner_id: people[n % people.length]?.id,
      allowed_agents: agents,
      permissions: ['chat', 'upload'],
    })
    await gateway.query(HISTORY, [key.id, key.owner_id, agents, share])
  }
  await gateway.query(COUNTERS)
  for (const statement of FILL_ROLLUPS) await gateway.query(statement)
  for (const months of [2, 1, 0])
    await gateway.query("SELECT fill_rollups(date_trunc('month', now(), 'UTC') - $1 * interval '1 month')", [
      months,
    ])

  await mkdir(PICTURES, { recursive: true })
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page, logIn } = await opened.visit('/', { colorScheme, viewport: SIZE, deviceScaleFactor: 1 })
    await logIn()
    const take = async (name: string, drawn: string) => {
      await page.locator('main').locator(drawn).first().waitFor()
      const path = fileURLToPath(new URL(`${name}-${colorScheme}.png`, PICTURES))
      await page.screenshot({ path })
    }
    const open = (path: string) => page.goto(`${gateway.url}/console${path}`)
    await page.getByRole('navigation').first().waitFor()
    await open('/?range=30d')
    await page.locator('section[aria-label="Is everything well?"][aria-busy=false]').waitFor()
    await take('overview', 'canvas')
    await open('/usage?group=agent')
    await take('usage', 'canvas')
    await open('/keys')
    await take('keys', 'tbody tr')
    await open('/playground/dify')
    await page.getByRole('textbox', { name: /message/i }).fill('Hello! What can you do for me?')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Copy as code' }).waitFor()
    await page.locator('aside [aria-current=page]').waitFor()
    await take('playground', 'textarea')
    await page.context().close()
  }
} finally {
  await opened.remove()
}
