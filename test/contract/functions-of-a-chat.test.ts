import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FunctionCounter, openFunctionCounter } from '../../tools/functions-of-a-chat.ts'
import { apiOf } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'

// A process, because V8 counts the functions of a whole process.

/** The sources, whose functions are counted by their files. */
const SOURCES = join(import.meta.dirname, '../../apps/gateway/bin/trunkline.js')

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
  ['whole', false, 82, 310],
  ['as a stream', true, 86, 340],
])(
  'a plain chat that is answered %s runs little more than it uses',
  async (_how, stream, filesMax, functionsMax) => {
    const files = await counter.count(async () => {
      const response = await apiOf(gateway).chat(key, 'openai', { stream, chat_id: '' })
      expect([response.status, (await response.text()).length > 0]).toEqual([200, true])
    })
    const list = [...files].map(([file, functions]) => `${file}: ${functions.join(' ')}`).join('\n')
    const functions = [...files.values()].flat()
    expect(files.size, list).toBeLessThanOrEqual(filesMax)
    expect(functions.length, list).toBeLessThanOrEqual(functionsMax)
    // What counts nothing would hold any bound.
    expect(functions.length).toBeGreaterThan(functionsMax / 2)
  },
)
