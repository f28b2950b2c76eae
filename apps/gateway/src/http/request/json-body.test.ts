import { text } from 'node:stream/consumers'
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { installProblems } from '../response/problem.ts'
import { installJsonBody, refuseBodies } from './json-body.ts'
import { installValidation } from './validation.ts'

/** A server that parses bodies as the gateway does, with a route that takes JSON, one that takes a stream of bytes, and one that takes no body. */
async function createApp() {
  const app = Fastify()
  installProblems(app)
  refuseBodies(app)
  await app.register(async (json) => {
    installJsonBody(json)
    json.post('/json', async ({ body }) => ({ body }))
  })
  await app.register(async (bytes) => {
    bytes.addContentTypeParser(
      'multipart/form-data',
      async (_request: unknown, payload: NodeJS.ReadableStream) => text(payload),
    )
    bytes.post('/upload', async ({ body }) => ({ body }))
  })
  app.post('/none', async () => ({}))
  return app
}

const BODIES = {
  json: { headers: { 'content-type': 'application/json' }, payload: '{"a":1}' },
  multipart: { headers: { 'content-type': 'multipart/form-data; boundary=x' }, payload: '--x--' },
  text: { headers: { 'content-type': 'text/plain' }, payload: 'a' },
}

test.each([
  ['/json', 'json', { a: 1 }],
  ['/upload', 'multipart', '--x--'],
] as const)('the route %s takes %s and refuses every other type', async (url, own, parsed) => {
  const app = await createApp()
  for (const [type, request] of Object.entries(BODIES)) {
    const response = await app.inject({ method: 'POST', url, ...request })
    if (type === own) expect(response.json()).toEqual({ body: parsed })
    else expect(response.json()).toMatchObject({ code: 415, reason: 'unsupported_media_type' })
  }
})

test('a route without a parser rejects a body', async () => {
  const app = await createApp()
  for (const request of Object.values(BODIES)) {
    expect((await app.inject({ method: 'POST', url: '/none', ...request })).statusCode).toBe(415)
  }
  expect((await app.inject({ method: 'POST', url: '/none' })).statusCode).toBe(200)
})

test('a refusal of a header does not repeat what it says', async () => {
  const app = await createApp()
  for (const headers of [
    { 'content-type': 'application/json; charset=hunter2' },
    { 'content-type': 'application/hunter2' },
    { 'content-type': 'application/json', 'content-encoding': 'hunter2' },
  ]) {
    const response = await app.inject({ method: 'POST', url: '/json', headers, payload: '{}' })
    expect(response.json()).toMatchObject({ code: 415, detail: expect.stringContaining('expected') })
    expect(response.body).not.toContain('hunter2')
  }
})

test('a field that the caller made up is named, and cut', async () => {
  const app = Fastify()
  installProblems(app)
  installJsonBody(app)
  installValidation(app)
  const body = { type: 'object', properties: {}, additionalProperties: false }
  app.post('/strict', { schema: { body } }, async () => ({}))
  const name = 'n'.repeat(200)
  const response = await app.inject({ method: 'POST', url: '/strict', payload: { [name]: 'hunter2' } })
  expect(response.json().detail).toBe(`body.${'n'.repeat(64)}…: is not a known field.`)
})

test('a value that is nested too deep is refused by the name of its field', async () => {
  const app = await createApp()
  const levels = (count: number, value: unknown = 1): unknown =>
    count === 0 ? value : { a: levels(count - 1, value) }
  for (const [payload, detail] of [
    [
      { query: 'q', variables: levels(64) },
      'body.variables: is nested too deep; expected at most 64 levels.',
    ],
    [[levels(64)], 'body: is nested too deep; expected at most 64 levels.'],
  ] as const) {
    const response = await app.inject({ method: 'POST', url: '/json', payload: payload as object })
    expect(response.json()).toMatchObject({ code: 400, reason: 'invalid_request', detail })
    expect(response.json().fields).toEqual([{ field: detail.split(':')[0], message: expect.any(String) }])
  }
  const good = { variables: levels(63) }
  expect((await app.inject({ method: 'POST', url: '/json', payload: good })).json()).toEqual({ body: good })
})
