import { createHash } from 'node:crypto'
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

test('the document of the API is built and serialised once', async () => {
  const swagger = vi.spyOn(app, 'swagger')
  const stringify = vi.spyOn(JSON, 'stringify')
  const bodies = await Promise.all(Array.from({ length: 5 }, () => get('/openapi.json')))
  for (const { body } of bodies) expect(JSON.parse(body).openapi).toBe('3.1.0')
  expect(swagger).not.toHaveBeenCalled()
  expect(stringify).not.toHaveBeenCalled()
})

describe('the page of the reference has a strict policy', () => {
  const policyOf = ({ headers }: { headers: Record<string, unknown> }) =>
    new Map(
      String(headers['content-security-policy'])
        .split('; ')
        .map((directive) => [directive.split(' ', 1)[0], directive.split(' ').slice(1)] as const),
    )

  test.each(['/docs', '/docs/', '/docs/?x=1'])('%s', async (url) => {
    const response = await app.inject({ method: 'GET', url })
    const page = response.statusCode === 301 ? await get('/docs/') : response
    const policy = policyOf(page)
    // What a browser would run: every script without a source, in the bytes that were sent.
    const scripts = page.body.split(/<script(?![^>]* src=)[^>]*>/).slice(1)
    const hashes = scripts.map((rest) => {
      const [script = ''] = rest.split('</script>')
      return `'sha256-${createHash('sha256').update(script).digest('base64')}'`
    })
    expect(hashes).toHaveLength(1)
    expect(policy.get('script-src')).toEqual(["'self'", ...hashes])
    expect(policy.get('frame-ancestors')).toEqual(["'none'"])
    expect(policy.get('default-src')).toEqual(["'none'"])
    expect(policy.get('base-uri')).toEqual(["'none'"])
    expect(policy.get('connect-src')).toEqual(["'self'", 'http://localhost'])
  })

  test('also for a browser that has it, and for HEAD; its script has none', async () => {
    const page = await get('/docs/')
    const again = await get('/docs/', { 'if-none-match': page.headers.etag })
    expect(again.statusCode).toBe(304)
    expect(policyOf(again)).toEqual(policyOf(page))
    const head = await app.inject({ method: 'HEAD', url: '/docs/' })
    expect([head.statusCode, policyOf(head)]).toEqual([200, policyOf(page)])
    expect((await get('/docs/js/scalar.js')).headers['content-security-policy']).toBeUndefined()
  })
})

test('routes that are not of the reference have no tag', async () => {
  expect((await get('/elsewhere')).headers.etag).toBeUndefined()
})
