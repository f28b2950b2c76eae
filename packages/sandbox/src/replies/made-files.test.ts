import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask, get } from '../ask.test-support.ts'
import { type Sandbox, startSandbox } from '../index.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox({ delayMs: 0 })
})
afterAll(() => sandbox.close())

const PLATFORMS = ['dify', 'coze', 'fastgpt', 'openai'] as const

test.each(PLATFORMS)('a file that %s has made is served without a credential', async (platform) => {
  const agent = sandbox.agents[platform]
  const stream = await (await ask[platform](agent, 'sandbox:file=ten sandbox:echo Hello')).text()
  const urls = new Set(stream.match(/http:\/\/127\.0\.0\.1:\d+\/made-files\/[\w-]+\.(?:png|pdf)/g))
  expect(urls.size).toBe(10)
  for (const url of urls) {
    const response = await fetch(url)
    expect(response.headers.get('content-type')).toBe(url.endsWith('.png') ? 'image/png' : 'application/pdf')
    const bytes = Buffer.from(await response.arrayBuffer()).toString('latin1')
    expect(bytes).toMatch(url.endsWith('.png') ? /^\x89PNG\r\n/ : /^%PDF-1\.4\n[\s\S]*\n%%EOF\n$/)
  }
  expect((await fetch(`${new URL(agent.baseUrl).origin}/made-files/chart.exe`)).status).toBe(404)
})

test.each(PLATFORMS)('a picture of %s that is alone has no text beside it', async (platform) => {
  const agent = sandbox.agents[platform]
  await (await ask[platform](agent, 'Hello sandbox:file=alone')).text()
  const [run] = agent.seen.runs.filter(({ query }) => query === 'Hello sandbox:file=alone')
  expect(run).toMatchObject({ text: '', state: 'finished' })
})

test('Coze has the files among the messages of a chat that is polled', async () => {
  const agent = sandbox.agents.coze
  const response = await ask.coze(agent, 'sandbox:file=alone', { stream: false })
  const { data } = JSON.parse(await response.text())
  await agent.seen.waitFor(({ runs }) => runs.find(({ id, state }) => id === data.id && state === 'finished'))
  const list = await get(
    agent,
    `/v3/chat/message/list?chat_id=${data.id}&conversation_id=${data.conversation_id}`,
  )
  const messages = JSON.parse(await list.text()).data
  expect(messages).toMatchObject([{ type: 'answer', content_type: 'object_string' }])
})

test('a body has files as values of FastGPT, and as parts of a server of OpenAI’s kind', async () => {
  const contentOf = async (platform: 'fastgpt' | 'openai') => {
    const query = 'sandbox:file=alone'
    const response = await ask[platform](sandbox.agents[platform], query, { stream: false })
    return JSON.parse(await response.text()).choices[0].message.content
  }
  expect(await contentOf('fastgpt')).toEqual([
    { type: 'file', file: { type: 'image', name: 'chart.png', url: expect.any(String) } },
  ])
  expect(await contentOf('openai')).toEqual([{ type: 'image_url', image_url: { url: expect.any(String) } }])
})
