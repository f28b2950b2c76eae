import { afterAll, beforeAll, expect, test } from 'vitest'
import { get } from '../ask.test-support.ts'
import { type Sandbox, startSandbox } from '../index.ts'
import { type ControlServer, startControlServer } from './control-server.ts'

let sandbox: Sandbox
let server: ControlServer
beforeAll(async () => {
  sandbox = await startSandbox()
  const { dify, openai } = sandbox.agents
  server = await startControlServer(0, { dify: dify.control, 'dify-2': openai.control })
})
afterAll(async () => {
  server.close()
  await sandbox.close()
})

async function send(path: string, body?: string) {
  const response = await fetch(server.origin + path, body === undefined ? {} : { method: 'POST', body })
  return [response.status, await response.json()]
}

test('an emulator fails as it is told, and recovers', async () => {
  expect(await send('/')).toEqual([200, { dify: 'none', 'dify-2': 'none' }])
  expect(await send('/dify-2/fail', '{"fault":"503"}')).toEqual([200, { 'dify-2': '503' }])
  expect((await get(sandbox.agents.openai, '/models')).status).toBe(503)
  expect(await send('/dify/fail', '{"fault":"refuse"}')).toEqual([200, { dify: 'refuse' }])
  expect(await send('/')).toEqual([200, { dify: 'refuse', 'dify-2': '503' }])
  await expect(get(sandbox.agents.dify, '/info')).rejects.toThrow()
  for (const name of ['dify', 'dify-2']) {
    expect(await send(`/${name}/fail`, '{"fault":"none"}')).toEqual([200, { [name]: 'none' }])
  }
  expect((await get(sandbox.agents.dify, '/info')).status).toBe(200)
})

test.each(['{"fault":"sleep"}', '{"fault":"toString"}', '{"fault":503}', '{}', 'null', 'refuse', ''])(
  'a fault of %j is refused with the words that exist',
  async (body) => {
    expect(await send('/dify/fail', body)).toEqual([
      400,
      {
        error:
          'Expected {"fault": "<word>"}, where the word is one of 401, 429, 500, 503, refuse, reset, hang, none.',
      },
    ])
    expect(sandbox.agents.dify.control.outage).toBeUndefined()
  },
)

test.each([
  ['/coze/fail', '{"fault":"hang"}'],
  ['/toString/fail', '{"fault":"hang"}'],
  ['/dify', '{"fault":"hang"}'],
  ['/dify/fail', undefined],
])('the request %s with the body %j is refused with the names that exist', async (path, body) => {
  expect(await send(path, body)).toEqual([
    404,
    { error: 'Expected GET / or POST /<name>/fail, where the name is one of dify, dify-2.' },
  ])
})
