import Fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { installOpenApi } from './routes.ts'

let app: FastifyInstance
beforeAll(async () => {
  app = Fastify({ routerOptions: { ignoreTrailingSlash: true } })
  await installOpenApi(app, 'http://localhost')
  app.get('/elsewhere', async () => 'x')
  await app.ready()
})
afterAll(() => app.close())

const get = (url: string, headers = {}) => app.inject({ method: 'GET', url, headers })

describe.each(['/openapi.json', '/docs/', '/docs/js/scalar.js'])('%s', (url) => {
  test('is sent whole once, and as 304 to a client that has it', async () => {
    const first = await get(url)
    const { etag } = first.headers
    expect(first.statusCode).toBe(200)
    expect(first.body.length).toBeGreaterThan(0)
    expect(first.headers['cache-control']).toBe('no-cache')
    for (const known of [etag, `W/${etag}`, `"another", ${etag}`, '*']) {
      const again = await get(url, { 'if-none-match': known })
      expect(again).toMatchObject({ statusCode: 304, body: '' })
      expect(again.headers.etag).toBe(etag)
    }
    const another = await get(url, { 'if-none-match': '"another"' })
    expect(another).toMatchObject({ statusCode: 200, body: first.body })
  })
})

test('the document is built and serialised once', async () => {
  const swagger = vi.spyOn(app, 'swagger')
  const stringify = vi.spyOn(JSON, 'stringify')
  const bodies = await Promise.all(Array.from({ length: 5 }, () => get('/openapi.json')))
  for (const { body } of bodies) expect(JSON.parse(body).openapi).toBe('3.1.0')
  expect(swagger).not.toHaveBeenCalled()
  expect(stringify).not.toHaveBeenCalled()
})

test('other routes have no tag', async () => {
  expect((await get('/elsewhere')).headers.etag).toBeUndefined()
})
