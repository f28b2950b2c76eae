import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import { EVENT_STREAM } from '../support/graphql.ts'
import { CREATED_BY, filePart, formOf, sendForm } from '../support/upload-client.ts'

// A process, because the headers are those of production, which is a variable of the environment at the start.

let system: GatewayWithSandbox
beforeAll(async () => {
  system = await startGatewayWithSandbox({ env: { NODE_ENV: 'production' }, isOnDisk: true })
})
afterAll(() => system?.remove())

const get = (path: string, credential: string, headers: Record<string, string> = {}) =>
  fetch(new URL(path, system.gateway.url), {
    headers: { authorization: `Bearer ${credential}`, ...headers },
  })

test('a chat over GraphQL by GET is refused and not counted, and live usage by GET is served', async () => {
  const query = 'subscription { chat(input: { agentId: "dify", query: "hello" }) { __typename } }'
  const refused = await get(`/graphql?${new URLSearchParams({ query })}`, system.key, EVENT_STREAM)
  expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST'])
  const { body } = await system.api.call('GET', '/api/v1/calls', { token: system.token })
  expect(body.data.items).toEqual([])

  const usage = new URLSearchParams({ query: 'subscription { usageUpdated { __typename } }' })
  const live = await get(`/graphql?${usage}`, system.token, EVENT_STREAM)
  expect([live.status, live.headers.get('content-type')]).toEqual([
    200,
    expect.stringContaining('text/event-stream'),
  ])
  await live.body?.cancel()
})

test('the reference runs its own scripts alone, and no page may frame it', async () => {
  const page = await fetch(`${system.gateway.url}/docs/`)
  const policy = page.headers.get('content-security-policy')?.split('; ') ?? []
  const [inline = ''] = (await page.text()).split(/<script(?![^>]* src=)[^>]*>/)[1]?.split('</script>') ?? []
  const hash = createHash('sha256').update(inline).digest('base64')
  expect(policy).toEqual(
    expect.arrayContaining([`script-src 'self' 'sha256-${hash}'`, "frame-ancestors 'none'"]),
  )
})

test('what management routes return is kept by no cache, and a file may be', async () => {
  for (const path of ['/api/v1/users', '/api/v1/api-keys', '/api/v1/usage', '/api/v1/usage?format=csv']) {
    const response = await get(path, system.token)
    expect([path, response.status, response.headers.get('cache-control')]).toEqual([path, 200, 'no-store'])
    await response.body?.cancel()
  }
  const { full_key: key } = await system.api.createKey(system.token, { permissions: ['upload'] })
  const { body } = await sendForm(system.gateway.url, key, formOf(CREATED_BY, filePart('text')))
  const { pathname } = new URL(body.data.url)
  const file = await fetch(system.gateway.url + pathname)
  expect([file.status, file.headers.get('cache-control')]).toEqual([
    200,
    expect.not.stringContaining('no-store'),
  ])
  expect(file.headers.get('etag')).not.toBeNull()
  expect((await fetch(`${system.gateway.url}${pathname}/`)).status).toBe(404)
})
