import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiOf } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { configOf } from '../support/load.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { payloadsOf, readerOf } from '../support/stream.ts'

// A process, because an unhandled rejection ends a process unless something is done about it.

let platform: Platform
let gateway: TestGateway

beforeAll(async () => {
  platform = await startPlatform()
  // Simulates a fault in the gateway's own code at a moment that the test chooses.
  const fault = 'process.on("SIGUSR2", () => void Promise.reject(new Error("a stray fault")))'
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(fault)}` }
  gateway = await startGateway({ config: configOf(platform), env })
})
afterAll(async () => {
  await gateway.remove()
  await platform.close()
})

test('an unhandled rejection is logged and counted, and ends no stream', async () => {
  const api = apiOf(gateway)
  const { full_key: key } = await api.createKey(await api.login())
  platform.hold()
  const live = readerOf(await api.chat(key, 'counting', { stream: true }))
  await live.until(/Counted/)

  process.kill(gateway.pid, 'SIGUSR2')
  const [line] = await gateway.prints(/\{.*"msg":"a rejected promise was not handled"\}/)
  expect(JSON.parse(line)).toMatchObject({ level: 'error', err: { message: 'a stray fault' } })

  platform.release()
  expect(payloadsOf(await live.rest()).at(-1)).toBe('[DONE]')
  const { body } = await api.call('GET', '/metrics')
  expect(body).toMatch(/^trunkline_stray_rejections_total 1$/m)
})
