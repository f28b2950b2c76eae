import Fastify from 'fastify'
import { describe, expect, test } from 'vitest'
import { installJsonBody } from '../request/json-body.ts'
import { installProblems } from './problem.ts'

function createApp() {
  const app = Fastify({ exposeHeadRoutes: true, routerOptions: { ignoreTrailingSlash: true } })
  installProblems(app)
  installJsonBody(app)
  app.get('/', async () => 'root')
  app.get('/api/v1/things', async () => 'things')
  app.post('/api/v1/things', async () => 'thing')
  app.get('/api/v1/things/mine', async () => 'mine')
  app.patch('/api/v1/things/:id', async () => 'thing')
  app.post('/api/v1/things/:id/a.b', async () => 'thing')
  app.get('/api/v1/models/*', async () => 'model')
  app.register(async (inner) => inner.delete('/late', async () => 'late'), { prefix: '/api/v1' })
  return app
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD'

describe('a known path with another method gets 405 and lists the methods of the path', () => {
  test.each<[Method, string, string]>([
    ['POST', '/', 'GET, HEAD'],
    ['PUT', '/api/v1/things', 'GET, HEAD, POST'],
    ['PUT', '/api/v1/things/', 'GET, HEAD, POST'],
    ['PUT', '/api/v1/things?x=/nothing', 'GET, HEAD, POST'],
    ['DELETE', '/api/v1/things/7', 'PATCH'],
    ['DELETE', '/api/v1/things/mine', 'GET, HEAD, PATCH'],
    ['GET', '/api/v1/things/7/a.b', 'POST'],
    ['DELETE', '/api/v1/models/a/b', 'GET, HEAD'],
    ['GET', '/api/v1/late', 'DELETE'],
  ])('%s %s', async (method, url, allow) => {
    const response = await createApp().inject({ method, url })
    expect([response.statusCode, response.headers.allow]).toEqual([405, allow])
    expect(response.json()).toMatchObject({
      code: 405,
      reason: 'method_not_allowed',
      detail: expect.stringContaining(`takes ${allow}, not ${method}.`),
    })
  })
})

test('a WebSocket for responses is refused at once, and any other upgrade is ignored', async () => {
  const app = createApp()
  app.post('/api/v1/responses', async () => 'response')
  const get = (url: string, upgrade: string) =>
    app.inject({ method: 'GET', url, headers: { connection: 'Upgrade', upgrade } })
  for (const _try of [1, 2]) {
    const refused = await get('/api/v1/responses', 'WebSocket')
    expect([refused.statusCode, refused.json().reason]).toEqual([426, 'websocket_not_supported'])
    expect(refused.json().error).toMatchObject({ code: 'websocket_not_supported' })
  }
  expect((await get('/api/v1/responses', 'h2c')).statusCode).toBe(405)
  expect((await get('/api/v1/things', 'websocket')).body).toBe('things')
})

test.each<[Method, string]>([
  ['GET', '/nothing'],
  ['POST', '/api/v1/things/7/axb'],
  ['GET', '/api/v1/things/7/8/9'],
  ['POST', '/api/v1'],
])('an unknown route, as %s %s, gets 404', async (method, url) => {
  const response = await createApp().inject({ method, url })
  expect(response.headers).not.toHaveProperty('allow')
  expect(response.json()).toMatchObject({ code: 404, reason: 'route_not_found' })
})

test('404 and 405 take precedence over errors about the type or size of the body', async () => {
  const app = createApp()
  for (const [url, status] of [
    ['/api/v1/nothing', 404],
    ['/api/v1/late', 405],
  ] as const) {
    for (const request of [
      { headers: { 'content-type': 'text/plain' }, payload: 'x' },
      { headers: { 'content-type': 'application/json' }, payload: `"${'x'.repeat(2 << 20)}"` },
      { headers: { 'content-type': 'application/json' }, payload: '{' },
    ]) {
      const { statusCode } = await app.inject({ method: 'POST', url, ...request })
      expect(statusCode).toBe(status)
    }
  }
})

describe('a path that clients of OpenAI request gets 404 in both forms, and the error names what to use instead', () => {
  test.each([
    ['/api/v1/responses/resp_1/cancel', /only POST \/api\/v1\/responses is served/],
    ['/api/v1/conversations', /POST \/api\/v1\/responses/],
    ['/api/v1/completions', /use POST \/api\/v1\/chat\/completions/],
    ['/api/v1/messages', /use POST \/api\/v1\/chat\/completions/],
    ['/api/v1/embeddings', /Embeddings are not served/],
    ['/api/v1/threads/t1/runs', /use POST \/api\/v1\/chat\/completions/],
    ['/api/v1/files', /POST \/api\/v1\/upload/],
    ['/api/v1/images/generations', /POST \/api\/v1\/chat\/completions/],
    ['/api/v1/constructor', /POST \/api\/v1\/chat\/completions/],
    ['/api/v1/chat/completions/c1', /POST \/api\/v1\/chat\/completions/],
    ['/api/v2/chat', /POST \/api\/v1\/chat\/completions/],
    ['/v1/chat/completions', /base URL of this API ends in \/api\/v1/],
    ['/v1/models', /base URL of this API ends in \/api\/v1/],
    ['/chat/completions', /base URL of this API ends in \/api\/v1/],
    ['/api/chat/completions', /base URL of this API ends in \/api\/v1/],
    ['/api/v1/v1/chat/completions?x=1', /base URL of this API ends in \/api\/v1/],
  ])('%s', async (url, hint) => {
    const response = await createApp().inject({ method: 'POST', url })
    const body = response.json()
    expect(body).toMatchObject({ code: 404, reason: 'route_not_found', detail: expect.stringMatching(hint) })
    expect(body.error).toEqual({
      message: body.detail,
      type: 'not_found_error',
      code: 'route_not_found',
      param: null,
    })
  })

  test('other unknown paths get the error body of REST', async () => {
    const response = await createApp().inject({ method: 'POST', url: '/apiary' })
    expect(response.json()).not.toHaveProperty('error')
  })
})
