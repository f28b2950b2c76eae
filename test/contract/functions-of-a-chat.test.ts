import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FunctionCounter, openFunctionCounter } from '../../tools/functions-of-a-chat.ts'
import { apiOf } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'

// A process, because V8 counts the functions of a whole process.

/** The sources, whose functions are counted by their files. */
const SOURCES = join(import.meta.dirname, '../../apps/gateway/bin/trunkline.js')

/** A little more than 80 and 320: on a slow machine what happens once a second falls into each of the windows. */
const FILES_MAX = 84
const FUNCTIONS_MAX = 335

let gateway: TestGateway
let counter: FunctionCounter
let key: string

beforeAll(async () => {
  gateway = await startGateway({ main: SOURCES, env: { NODE_OPTIONS: '--inspect=127.0.0.1:0' } })
  const [, inspectorUrl = ''] = await gateway.prints(/Debugger listening on (ws:\S+)/)
  const api = apiOf(gateway)
  key = (await api.createKey(await api.login())).full_key
  counter = await openFunctionCounter({ inspectorUrl })
})
afterAll(async () => {
  counter?.close()
  await gateway?.remove()
})

/** It names no conversation, has no files and no `Idempotency-Key`, and its agent is configured with no more than an address. */
test.each([
  ['whole', false],
  ['as a stream', true],
])('a plain chat that is answered %s runs little more than it uses', async (_how, stream) => {
  const files = await counter.count(async () => {
    const response = await apiOf(gateway).chat(key, 'openai', { stream, chat_id: '' })
    expect([response.status, (await response.text()).length > 0]).toEqual([200, true])
  })
  const list = [...files].map(([file, functions]) => `${file}: ${functions.join(' ')}`).join('\n')
  const functions = [...files.values()].flat()
  expect(files.size, list).toBeLessThanOrEqual(FILES_MAX)
  expect(functions.length, list).toBeLessThanOrEqual(FUNCTIONS_MAX)
  // What counts nothing would hold any bound.
  expect(functions.length).toBeGreaterThan(FUNCTIONS_MAX / 2)
})
