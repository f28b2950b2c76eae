import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { apiOf, inOneYear } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { failureOf } from '../support/kept-calls.ts'
import { uploadFile } from '../support/uploads.ts'

// A process, because a command is a program with arguments, an output and an exit code, beside a gateway that runs.

// Every command starts a process, which takes long on a busy machine.
vi.setConfig({ testTimeout: 240_000 })

let gateway: TestGateway
let token: string
beforeAll(async () => {
  gateway = await startGateway()
  token = await apiOf(gateway).login()
})
afterAll(() => gateway?.remove())

/** Returns the output of a command that must succeed. */
async function output(...args: string[]): Promise<string> {
  const { code, output } = await gateway.trunkline(...args)
  expect([code, output]).toEqual([0, output])
  return output
}

async function json(...args: string[]) {
  return JSON.parse(await output(...args, '--json'))
}

async function restData(path: string) {
  const { body } = await apiOf(gateway).call('GET', path, { token })
  return (body as { data: unknown }).data
}

const keyFor = (owner: string, ...more: string[]) =>
  ['keys', 'create', '--owner', owner, '--name', 'cli', '--expires-at', inOneYear(), ...more] as const

test('--json prints the records that REST returns', async () => {
  const created = await json('users', 'create', 'ada', '--role', 'premium', '--max-api-calls', '5')
  const { password, ...user } = created
  expect(password).toMatch(/^[\w-]{20}$/)
  expect(user).toEqual(await restData(`/api/v1/users/${user.id}`))
  expect(await json('users', 'list')).toEqual(((await restData('/api/v1/users')) as { items: unknown }).items)

  const { full_key, ...key } = await json(...keyFor('ada', '--permissions', 'chat,upload'))
  expect(full_key).toMatch(/^tl_\w{49}$/)
  expect(key).toMatchObject({ owner_id: user.id, permissions: ['chat', 'upload'] })
  expect(await json('keys', 'show', key.id)).toEqual(await restData(`/api/v1/api-keys/${key.id}`))
  expect(await json('keys', 'list')).toEqual(
    ((await restData('/api/v1/api-keys')) as { items: unknown }).items,
  )
  expect(await json('keys', 'revoke', key.id)).toMatchObject({ is_active: false })
  expect(await json('usage', 'verify')).toEqual([])
})

test('a key is rotated, paused and resumed under its id, and found by its addresses, use and expiry', async () => {
  const addresses = ['--addresses', '127.0.0.0/8,::1']
  const { full_key: first, ...key } = await json(...keyFor('admin', ...addresses))
  expect(key.allowed_addresses).toEqual(['127.0.0.0/8', '::1'])
  const statusOf = async (fullKey: string) =>
    (await apiOf(gateway).call('GET', '/api/v1/key', { token: fullKey })).status
  const { full_key: second, ...rotated } = await json('keys', 'rotate', key.id)
  expect(rotated).toMatchObject({ id: key.id, secrets: [{ ends_at: null }, { ends_at: expect.any(String) }] })
  expect([await statusOf(first), await statusOf(second)]).toEqual([200, 200])
  const shown = await output('keys', 'rotate', key.id, '--overlap-seconds', '0')
  const [, third = ''] = /^full_key +(tl_\w{49}) \(shown only now\)$/m.exec(shown) ?? []
  expect([await statusOf(first), await statusOf(second), await statusOf(third)]).toEqual([401, 401, 200])

  expect(await json('keys', 'pause', key.id)).toMatchObject({ state: 'paused' })
  expect(await statusOf(third)).toBe(403)
  expect(await output('keys', 'list', '--state', 'paused')).toMatch(new RegExp(`^${key.id} .* paused `, 'm'))
  expect(await json('keys', 'resume', key.id)).toMatchObject({ state: 'active' })
  expect(await statusOf(third)).toBe(200)

  const idsOf = async (...conditions: string[]) =>
    (await json('keys', 'list', ...conditions)).map(({ id }: { id: string }) => id)
  expect(await idsOf('--expires-within', '400d')).toContain(key.id)
  expect(await idsOf('--expires-within', '30d')).not.toContain(key.id)
  expect(await idsOf('--unused-for', '90d')).not.toContain(key.id)
})

test('the command line reads the reports and calls of REST, with the same filters', async () => {
  const october = ['--from', '2026-10-01', '--to', '2026-11-01', '--timezone', 'Asia/Shanghai']
  const conditions = 'from=2026-10-01&to=2026-11-01&timezone=Asia/Shanghai&outcome=failed'
  const report = await json('usage', 'report', ...october, '--outcome', 'failed')
  expect(report).toEqual(await restData(`/api/v1/usage?${conditions}`))
  expect(report.groups[0].points).toHaveLength(31)
  expect(await json('calls', 'list', ...october, '--outcome', 'failed')).toEqual(
    await restData(`/api/v1/calls?${conditions}`),
  )
  const api = apiOf(gateway)
  const { full_key } = await api.createKey(token)
  const asking = await api.chat(full_key, 'fastgpt', { query: 'sandbox:interactive', chat_id: 'paused' })
  await asking.text()
  await (await api.chat(full_key, 'fastgpt', { query: 'Hello', chat_id: 'other' })).text()
  const list = async () => (await json('calls', 'list', '--paused')) as { items: unknown[] }
  await expect.poll(async () => (await list()).items).toHaveLength(1)
  const paused = await list()
  expect(paused).toEqual(await restData('/api/v1/calls?paused=true'))
  expect(paused.items).toEqual([
    expect.objectContaining({ id: asking.headers.get('x-call-id'), paused: true, answered_by: null }),
  ])
  const { code, output: refusal } = await gateway.trunkline('calls', 'list', '--outcome', 'lost')
  expect([code, refusal]).toEqual([1, expect.stringContaining('--outcome: expected a list of')])
  expect(await output('usage', 'report', ...october)).toMatch(
    /^START +CALLS +FAILED +TOKENS +P50 MS +P95 MS\n2026-09-30T16/,
  )
})

test('the command line stops a running call, once, and the audit log has who did', async () => {
  const api = apiOf(gateway)
  const { full_key } = await api.createKey(token)
  const more = { stream: true, query: 'sandbox:silence Hello', chat_id: '' }
  const reply = await api.chat(full_key, 'dify', more)
  const id = reply.headers.get('x-call-id') ?? ''
  expect(await output('calls', 'stop', id)).toBe('The call is being stopped.\n')
  expect(failureOf(await reply.text())).toBe('stopped')
  const ended = { call_id: id, outcome: 'rejected' }
  await expect.poll(() => json('calls', 'stop', id)).toEqual(ended)
  expect(await output('calls', 'stop', id.toUpperCase())).toBe('The call had already ended: rejected.\n')
  const { items } = (await json('audit', 'list', '--operation', 'calls.stop')) as { items: unknown[] }
  expect(items).toEqual([expect.objectContaining({ actor: 'command', target_id: id })])
  for (const none of [crypto.randomUUID(), 'key:order-17']) {
    const { code, output: refusal } = await gateway.trunkline('calls', 'stop', none)
    expect([code, refusal]).toEqual([1, expect.stringContaining('This call does not exist.')])
  }
})

test('the command line reads the refusals, the audit log and the processes of REST, with the same filters', async () => {
  await json('users', 'create', 'grace')
  const october = ['--from', '2026-10-01', '--to', '2026-10-02', '--timezone', 'Asia/Shanghai']
  const conditions =
    'from=2026-10-01&to=2026-10-02&timezone=Asia/Shanghai&reason=rate_limited&limit_name=chat'
  const limited = [...october, '--reason', 'rate_limited', '--limit-name', 'chat']
  expect(await json('refusals', 'list', ...limited)).toEqual(await restData(`/api/v1/refusals?${conditions}`))
  const counts = (await restData(`/api/v1/refusals/counts?${conditions}&per=day`)) as { items: unknown }
  expect(await json('refusals', 'counts', ...limited, '--per', 'day')).toEqual(counts.items)
  expect(await output('refusals', 'list', ...october)).toBe('There is no such refusal.\n')
  const refused = await gateway.trunkline('refusals', 'counts', '--reason', 'none')
  expect([refused.code, refused.output]).toEqual([1, expect.stringContaining('--reason: expected a reason')])

  const users = ['--target', 'user', '--to', '2100-01-01']
  const listed = await json('audit', 'list', ...users, '--limit', '1')
  expect(listed).toEqual(await restData('/api/v1/audit?target=user&to=2100-01-01&limit=1'))
  expect(listed.items).toEqual([expect.objectContaining({ target: 'user', after: expect.any(Object) })])
  const lines = (await output('audit', 'export', ...users)).trimEnd().split('\n')
  const events = lines.map((line) => JSON.parse(line))
  expect(events[0]).toMatchObject({
    n: listed.items[0].n,
    after: expect.any(String),
    hash: listed.items[0].hash,
  })
  expect(events.map(({ n }) => n)).toEqual([...new Set(events.map(({ n }) => n))].sort((a, b) => b - a))
  expect(events.length).toBeGreaterThan(1)
  expect(await output('audit', 'list', ...users)).toMatch(/^N +AT +OPERATION +RESULT +REASON +ACTOR +WHO /)

  const chosen = ['audit', 'list', ...users, '--limit', '1', '--user', 'nobody'] as const
  expect((await gateway.trunkline(...chosen)).output).toBe('There is no user "nobody".\n')
  const [event] = listed.items
  const columns = (await output('audit', 'list', ...users, '--limit', '1', '--columns', 'all')).split('\n', 1)
  expect(columns.join().trim().toLowerCase().split(/ +/)).toEqual(Object.keys(event))
  expect(await output('audit', 'list', ...users, '--limit', '1', '--columns', 'n, hash')).toMatch(
    new RegExp(`^N +HASH\n${event.n} +${event.hash}\n`),
  )
  const unknown = await gateway.trunkline('audit', 'list', '--columns', 'n,who')
  expect([unknown.code, unknown.output]).toEqual([1, expect.stringContaining('--columns: expected all, or')])

  // A process tells its calls with its heartbeats, and the last one may have seen the call that was stopped.
  await expect
    .poll(() => json('processes', '--state', 'live'))
    .toEqual([expect.objectContaining({ state: 'live', calls_in_flight: 0 })])
  expect(await output('processes')).toMatch(
    /^ID +STATE +HOST +PORT +PID +VERSION +STARTED_AT +LAST_SEEN_AT +CALLS_IN_FLIGHT +BREAKERS +CONFIGURATION +CONCERNS\n/,
  )
})

test('the default output of a command is a table with headings and one line per record', async () => {
  await output('users', 'create', '数据库管理员', '--quota-period', 'day')
  const [headings = '', ...rows] = (await output('users', 'list')).trimEnd().split('\n')
  expect(headings).toMatch(
    /^USERNAME +ROLE +STATUS +API_CALLS_COUNT +MAX_API_CALLS +QUOTA_PERIOD +LAST_LOGIN +ID$/,
  )
  expect(
    rows.some((row) => /^数据库管理员 {2,}user +active +0 +1000000 +day +- +[\da-f-]{36}$/.test(row)),
  ).toBe(true)
  const made = await output(...keyFor('数据库管理员', '--agents', 'dify,coze/bot'))
  expect(made).toMatch(/^full_key +tl_\w{49} \(shown only now\)$/m)
  expect(made).toMatch(/^allowed_agents +dify, coze\/bot$/m)
  expect(await output('keys', 'list')).toMatch(/^[\da-f-]{36} +cli +数据库管理员 +tl_\w{9} +active /m)
})

test('users can be suspended and activated, and their role and quota changed', async () => {
  await output('users', 'create', 'bob')
  expect(await json('users', 'suspend', 'bob')).toMatchObject({ status: 'suspended' })
  expect(await json('users', 'activate', 'BOB')).toMatchObject({ status: 'active' })
  expect(await json('users', 'set-role', 'bob', 'premium')).toMatchObject({ role: 'premium' })
  expect(await json('users', 'set-quota', 'bob', '7')).toMatchObject({
    max_api_calls: 7,
    quota_period: 'none',
  })
  const changed = await json('users', 'set-quota', 'bob', '--quota-period', 'month', '--max-api-calls', '0')
  expect(changed).toMatchObject({ max_api_calls: 0, quota_period: 'month', role: 'premium' })
})

test('uploads sweep reports what it deleted, and fails if the storage looks like the wrong one', async () => {
  const { full_key: key } = await apiOf(gateway).createKey(token, { permissions: ['upload'] })
  const { url } = await uploadFile(gateway.url, key, 'expired')
  const kept = await uploadFile(gateway.url, key, 'kept')
  const nothing = { expired: 0, files: 0, records: 0, unfinished: 0, suspicious: 0 }
  expect(await json('uploads', 'sweep')).toEqual(nothing)

  await gateway.stop()
  await gateway.query('UPDATE uploads SET expires_at = now() WHERE id <> $1', [kept.id])
  // Each copy refers to a file that does not exist.
  const copied = 'url_name, filename, media_type, size, sha256, owner_id, key_id, created_by, expires_at'
  await gateway.query(
    `INSERT INTO uploads (id, call_id, token, created_at, ${copied})
     SELECT gen_random_uuid(), gen_random_uuid(), left(token, 38) || 10000 + n, now() - interval '1 day', ${copied}
     FROM uploads, generate_series(1, 101) AS n WHERE id = $1`,
    [kept.id],
  )
  const suspicious = 'records kept although their files are missing'
  const { code, output: table } = await gateway.trunkline('uploads', 'sweep')
  expect([
    code,
    table
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/)),
  ]).toEqual([
    1,
    [
      ['expired', '1'],
      ['files without a record', '0'],
      ['records without a file', '0'],
      ['unfinished writes', '0'],
      [suspicious, '101'],
    ],
  ])
  await gateway.start()
  // The restart has changed the port.
  expect((await fetch(new URL(new URL(url).pathname, gateway.url))).status).toBe(404)
  const again = await gateway.trunkline('uploads', 'sweep', '--json')
  expect([again.code, JSON.parse(again.output)]).toEqual([1, { ...nothing, suspicious: 101 }])
})

test('the signing key of the running gateway is rotated, and its secrets are rewritten', async () => {
  const [signing, accepted] = await json('signing-keys', 'rotate')
  expect([signing.state, accepted.state, accepted.encrypted]).toEqual(['signing', 'accepted', null])
  expect(await json('signing-keys', 'list')).toEqual([signing, accepted])
  expect(await output('signing-keys', 'list')).toMatch(
    /^ID +STATE +CREATED_AT +ACCEPTED_UNTIL +PRIVATE KEY\n/,
  )
  const next = await apiOf(gateway).login()
  for (const each of [token, next]) {
    expect(await apiOf(gateway).call('GET', '/api/v1/users', { token: each })).toMatchObject({ status: 200 })
  }
  expect(await json('secrets', 'rewrite')).toEqual({
    rewritten: 0,
    unchanged: 1,
    unreadable: [],
    encrypted: false,
  })
  expect(await gateway.trunkline('signing-keys', 'rotate', '--accept-seconds', '999999999')).toEqual({
    code: 1,
    output: '--accept-seconds: expected at most 315360000.\n',
  })
})

test('--version prints the version of the package', async () => {
  const manifest = await readFile(join(import.meta.dirname, '../../packages/trunkline/package.json'), 'utf8')
  expect(await output('--version')).toBe(`${JSON.parse(manifest).version}\n`)
})

describe('an error is one line that names the field', () => {
  // Every case starts two processes, so only examples are tried here; the services' own tests cover the rest.
  const refusals: readonly (readonly [line: string | RegExp, args: readonly string[]])[] = [
    ['--permissions[0]: expected one of chat, upload, admin.', keyFor('admin', '--permissions', 'CHAT')],
    [/^--addresses\[0\]: expected an IPv4 or IPv6 address/, keyFor('admin', '--addresses', '127.1')],
    ['There is no user "nobody".', keyFor('nobody')],
    ['The last active administrator must stay one.', ['users', 'set-role', 'admin', 'user']],
    [
      /'99999999999999999999' is invalid.*whole number, 0 to 9007199254740991\./,
      ['users', 'create', 'carol', '--max-api-calls', '99999999999999999999'],
    ],
    ['This API key does not exist.', ['keys', 'show', 'nonsense']],
  ]

  async function refuse(args: readonly string[]): Promise<string> {
    const { code, output } = await gateway.trunkline(...args)
    expect([args.join(' '), code, output.trimEnd().split('\n')]).toEqual([
      args.join(' '),
      1,
      [output.trimEnd()],
    ])
    return output.trimEnd()
  }

  test('and is the same whether a gateway is running or not', async () => {
    const existing = join(gateway.dataDir, '../export.ndjson')
    const all = [...refusals.map(([, args]) => args), ['db', 'export', existing]]
    await output('db', 'export', existing)

    const beside: string[] = []
    for (const args of all) beside.push(await refuse(args))
    for (const [index, [expected]] of refusals.entries()) expect(beside[index]).toMatch(expected)
    expect(beside.at(-1)).toMatch(/^The file .*export\.ndjson already exists\.$/)

    await gateway.stop()
    const without: string[] = []
    for (const args of all) without.push(await refuse(args))
    await gateway.start()
    expect(without).toEqual(beside)
  })
})
