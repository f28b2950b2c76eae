import { utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import { until } from '../support/until.ts'
import { sendFile, uploadFile } from '../support/uploads.ts'

// A process, because the ops port, the memory and the event loop that are measured are those of a process.

let system: GatewayWithSandbox
let ops: string

beforeAll(async () => {
  const port = await freePort()
  ops = `http://127.0.0.1:${port}`
  system = await startGatewayWithSandbox({ env: { OPS_PORT: String(port) } })
})
afterAll(() => system.remove())

/** Returns all samples by name and labels, as they appear in the exposition. */
async function samples(): Promise<Record<string, number>> {
  const text = await (await fetch(`${ops}/metrics`)).text()
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return Object.fromEntries(
    lines.map((line) => {
      const end = line.lastIndexOf(' ')
      return [line.slice(0, end), Number(line.slice(end + 1))]
    }),
  )
}

test('health and metrics are served on OPS_PORT and not on PORT', async () => {
  expect(await (await fetch(`${ops}/healthz`)).json()).toEqual({ status: 'ok' })
  const isEmbedded = system.gateway.databaseUrl === undefined
  expect(await (await fetch(`${ops}/readyz`)).json()).toEqual({
    status: 'ready',
    dependencies: {
      database: { ok: true, writable: true },
      storage: { ok: true, optional: true },
      ...(isEmbedded && { disk: { ok: true } }),
    },
  })
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    expect((await fetch(system.gateway.url + path)).status).toBe(404)
  }
  expect((await fetch(`${ops}/api/v1/agents`)).status).toBe(404)
})

test('the metrics name the build', async () => {
  const names = Object.keys(await samples())
  expect(names.filter((name) => name.startsWith('trunkline_build_info'))).toEqual([
    expect.stringMatching(/\{version="\d+\.\d+\.\d+[^"]*",commit="[0-9a-f]{40}"\}/),
  ])
})

test('calls, requests, refusals, the ledger and the process are measured', async () => {
  await (await system.api.chat(system.key, 'openai', { stream: true })).text()
  await (await system.api.chat(system.key, 'openai', { query: 'sandbox:error=server Hello' })).text()
  // Calls are settled and counted after the reply.
  await vi.waitFor(async () => {
    expect(await samples()).toMatchObject({
      'trunkline_calls_total{agent="openai",outcome="done",reason=""}': 1,
      'trunkline_calls_total{agent="openai",outcome="upstream_error",reason="agent_error"}': 1,
      'trunkline_attempts_total{agent="openai",deployment="main",result="done"}': 1,
      'trunkline_attempts_total{agent="openai",deployment="main",result="agent_error"}': 1,
      trunkline_calls_in_flight: 0,
      'trunkline_call_duration_seconds_count{agent="openai"}': 2,
      'trunkline_call_first_chunk_seconds_count{agent="openai"}': 1,
      'trunkline_http_requests_total{route="/api/v1/chat",method="POST",status="200"}': 1,
      'trunkline_http_requests_total{route="/api/v1/chat",method="POST",status="502"}': 1,
      'trunkline_http_request_duration_seconds_count{route="/api/v1/chat"}': 2,
      'trunkline_refusals_total{reason="agent_error",limit=""}': 1,
      'trunkline_ledger_batch_size_sum{statement="admit"}': 2,
      'trunkline_ledger_batch_size_sum{statement="settle"}': 2,
      // Both calls may have been settled in one batch.
      'trunkline_ledger_batch_duration_seconds_count{statement="settle"}': expect.any(Number),
      trunkline_settle_failures_total: 0,
      trunkline_nodejs_eventloop_lag_seconds: expect.any(Number),
      trunkline_process_resident_memory_bytes: expect.any(Number),
    })
  }, 20_000)
})

test('uploads are measured by outcome, and what a sweep deletes by kind', async () => {
  const { full_key: key } = await system.api.createKey(system.token, { permissions: ['upload'] })
  await uploadFile(system.gateway.url, key, 'hello')
  await uploadFile(system.gateway.url, key, 'hello again')
  const refused = await sendFile(system.gateway.url, key, new Uint8Array([0, 1, 2, 3]))
  expect(refused.status).toBe(415)
  await vi.waitFor(async () => {
    expect(await samples()).toMatchObject({
      'trunkline_uploads_total{outcome="done",reason=""}': 2,
      'trunkline_uploads_total{outcome="rejected",reason="file_type_not_accepted"}': 1,
      trunkline_upload_bytes_total: 5 + 11 + 4,
      trunkline_uploads_in_flight: 0,
      'trunkline_upload_duration_seconds_count{outcome="done"}': 2,
      'trunkline_upload_duration_seconds_count{outcome="rejected"}': 1,
      'trunkline_refusals_total{reason="file_type_not_accepted",limit=""}': 1,
      'trunkline_http_requests_total{route="/api/v1/upload",method="POST",status="415"}': 1,
      'trunkline_ledger_batch_size_sum{statement="admit"}': 2 + 3,
    })
  }, 20_000)
  // The command is carried out by the gateway only where that owns the database.
  if (system.gateway.databaseUrl !== undefined) return
  const unfinished = join(system.gateway.dataDir, 'files/unfinished/left-behind')
  await writeFile(unfinished, '')
  await utimes(unfinished, 0, 0)
  expect(await system.gateway.trunkline('uploads', 'sweep')).toMatchObject({ code: 0 })
  await vi.waitFor(async () => {
    expect(await samples()).toMatchObject({
      'trunkline_uploads_swept_total{kind="unfinished"}': 1,
      'trunkline_uploads_swept_total{kind="file"}': 0,
      'trunkline_uploads_swept_total{kind="record"}': 0,
      'trunkline_uploads_swept_total{kind="expired"}': 0,
    })
  }, 20_000)
})

test('values from callers never become labels', async () => {
  const marks = Array.from({ length: 20 }, (_, index) => `mark-${index}`)
  for (const mark of marks) {
    await (await system.api.chat(system.key, mark)).text()
    await (await system.api.chat(system.key, 'fastgpt', { app_id: mark, chat_id: mark, user: mark })).text()
    await fetch(`${system.gateway.url}/api/v1/${mark}`)
    await fetch(`${system.gateway.url}/api/v1/api-keys/${mark}`, { method: 'DELETE' })
    await fetch(`${system.gateway.url}/api/v1/agents`, { method: 'PROPFIND' })
  }
  // What is shown may be a second old.
  const names = await until('the requests are counted', async () => {
    const shown = await samples()
    const unknown = 'trunkline_http_requests_total{route="unknown",method="GET",status="404"}'
    return (shown[unknown] ?? 0) >= marks.length && Object.keys(shown)
  })
  expect(names.filter((name) => name.includes('mark-'))).toEqual([])
  expect(names).toContain(
    'trunkline_http_requests_total{route="/api/v1/api-keys/:id",method="DELETE",status="401"}',
  )
  expect(names).toContain('trunkline_calls_total{agent="fastgpt",outcome="done",reason=""}')
})

test('the ops port reports the drain while calls are still running', async () => {
  const slow = await system.api.chat(system.key, 'openai', {
    stream: true,
    query: 'sandbox:slow=5 sandbox:long=100 Hello',
  })
  const stopped = system.gateway.stop()
  await system.gateway.prints(/"msg":"draining"/)
  const ready = await fetch(`${ops}/readyz`)
  expect([ready.status, await ready.json()]).toMatchObject([503, { status: 'draining' }])
  expect((await fetch(`${ops}/healthz`)).status).toBe(200)
  expect(await slow.text()).toMatch(/data: \[DONE\]\n\n$/)
  expect(await stopped).toBe(0)
})
