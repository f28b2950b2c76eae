import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { POST } from '@trunkline/examples/route-handler.ts'
import { readChatStream } from '@trunkline/sdk/chat'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../../support/gateway-with-sandbox.ts'

// A process, because the worker is a program that reads lines and ends, and both examples find the gateway by its address.

const WORKER = join(import.meta.dirname, '../../../examples/worker.ts')

let system: GatewayWithSandbox
let text: string
beforeAll(async () => {
  system = await startGatewayWithSandbox()
  const reply = await system.api.chat(system.key, 'fastgpt', { chat_id: '' })
  text = ((await reply.json()) as { choices: [{ message: { content: string } }] }).choices[0].message.content
})
afterAll(() => {
  vi.unstubAllEnvs()
  return system?.remove()
})

beforeEach(() => {
  vi.stubEnv('TRUNKLINE_URL', system.gateway.url)
  vi.stubEnv('TRUNKLINE_API_KEY', system.key)
})

const ask = (body: object) =>
  POST(new Request('http://page.test/api/chat', { method: 'POST', body: JSON.stringify(body) }))

test('the example worker answers each line, also after one that failed', async () => {
  const output = await new Promise<string>((resolve, reject) => {
    const args = ['--conditions=@trunkline/source', WORKER]
    const child = execFile(process.execPath, args, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    )
    child.stdin?.end('Hello sandbox:truncate\n\nHello\n')
  })
  const lines = output.trim().split('\n')
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { query: 'Hello sandbox:truncate', error: 'agent_truncated', requestId: expect.any(String) },
    { query: 'Hello', answer: text },
  ])
})

test('the example route handler streams the reply', async () => {
  const response = await ask({ query: 'Hello' })
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
  let streamed = ''
  for await (const { choices } of readChatStream(response)) streamed += choices[0]?.delta.content ?? ''
  expect(streamed).toBe(text)
})

test('the example route handler refuses a question that is empty', async () => {
  const response = await ask({ query: ' ' })
  expect([response.status, await response.json()]).toEqual([400, { reason: expect.any(String) }])
})

test('the example route handler logs nothing when a visitor leaves', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const leaving = new AbortController()
  const body = JSON.stringify({ query: 'Hello sandbox:silence' })
  const request = new Request('http://page.test/api/chat', { method: 'POST', body, signal: leaving.signal })
  const chunks = readChatStream(await POST(request))
  await chunks.next()
  leaving.abort()
  await expect(chunks.next()).rejects.toMatchObject({ reason: 'stream_failed' })
  expect(log).not.toHaveBeenCalled()
})

test('the example route handler tells nothing of its key', async () => {
  vi.stubEnv('TRUNKLINE_API_KEY', 'tl_wrong')
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const response = await ask({ query: 'Hello' })
  await expect(readChatStream(response).next()).rejects.toMatchObject({ reason: 'stream_failed' })
  expect(console.error).toHaveBeenCalledWith(expect.objectContaining({ reason: 'credential_malformed' }))
})
