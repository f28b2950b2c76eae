import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { loopbackUrls } from '@trunkline/gateway/src/core/requests/input/loopback-urls.test-support.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createFullKey, type FilesInChats, filesInChats, type Question } from '../support/files-in-chats.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'
import { graphql } from '../support/graphql.ts'

// A process, because a call must be refused before the gateway or a platform connects to this machine, and nothing may stand in for these.

/** Listens on every address of this machine. The emulators would read a file from it. */
let canary: Server
let connections = 0
let urls: readonly string[]
let system: GatewayWithSandbox
let client: FilesInChats
let key: string

beforeAll(async () => {
  canary = createServer((socket) => {
    connections += 1
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
  }).listen(0)
  await once(canary, 'listening')
  const { port } = canary.address() as AddressInfo
  urls = loopbackUrls(port)
  system = await startGatewayWithSandbox()
  key = await createFullKey(system)
  client = filesInChats(system, key)
  // It would notice.
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200)
  connections = 0
})
afterAll(async () => {
  await system.remove()
  canary.close()
})

/** Content parts with a URL, each with the path of its field. */
const PARTS: readonly (readonly [field: string, part: (url: string) => object])[] = [
  ['image_url.url', (url) => ({ type: 'image_url', image_url: { url } })],
  ['image_url', (url) => ({ type: 'image_url', image_url: url })],
  ['image_url.thumbnail', (url) => ({ type: 'image_url', image_url: { url: EXTERNAL, thumbnail: url } })],
  ['file.file_data', (url) => ({ type: 'file', file: { filename: 'a.pdf', file_data: url } })],
  ['file.file_url', (url) => ({ type: 'file', file: { file_url: url } })],
  ['file.url', (url) => ({ type: 'file', file: { url } })],
  ['file', (url) => ({ type: 'file', file: url })],
  ['input_audio.data', (url) => ({ type: 'input_audio', input_audio: { data: url, format: 'wav' } })],
  ['video_url.url', (url) => ({ type: 'image_url', image_url: EXTERNAL, video_url: { url } })],
]
const EXTERNAL = 'https://files.example.com/a.png'

const AGENTS = ['fastgpt', 'hiagent', 'dify', 'coze', 'openai'] as const

test.each(AGENTS.map((agent, turn) => [agent, turn] as const))(
  'no spelling of this machine reaches %s, wherever it is in the call',
  async (agent, turn) => {
    // Each spelling at one agent and in one part, and one of them in all parts: what refuses them knows no agent.
    const own = urls.filter((_url, index) => index % AGENTS.length === turn)
    const questions: Question[] = own.flatMap((url, index) => [
      { agent, files: [url] },
      { agent, way: 'chat stream', files: [EXTERNAL, url] },
      ...PARTS.filter((_part, at) => index === 0 || at === index % PARTS.length).map(
        ([, part]): Question => ({ agent, way: 'completions', parts: [part(url)] }),
      ),
    ])
    const { result: passed, chats } = await client.during(agent, () => notRefused(questions))
    expect(passed).toEqual([])
    expect(chats).toEqual([])
  },
)

test('the refusal of a private URL names its field', async () => {
  const [url = ''] = urls
  for (const agent of ['dify', 'openai']) {
    const { body } = await client.ask({ agent, files: [EXTERNAL, url] })
    expect(body.detail).toBe('body.files[1]: expected a publicly reachable URL.')
    for (const [field, part] of PARTS) {
      const reply = await client.ask({ agent, way: 'completions', parts: [part(url)] })
      expect(reply.body.error.param).toBe(`messages[0].content[1].${field}`)
    }
  }
})

const LONG_HOST = `https://${'files.'.repeat(50)}example.com/a.png`
const MANY = Array.from({ length: 101 }, (_, index) => `https://files.example.com/${index}.png`)

test.each([
  ['with a host that is too long', [EXTERNAL, LONG_HOST], 1, 'a URL whose host has at most 253 characters'],
  ['after a hundred others', MANY, 100, 'at most 100 URLs of files'],
])('a URL %s is refused by its field, on every interface', async (_which, sent, at, expected) => {
  const parts = sent.map((url) => ({ type: 'image_url', image_url: { url } }))
  for (let time = 0; time < 2; time += 1) {
    const { status, body } = await client.ask({ agent: 'openai', way: 'completions', parts })
    const param = `messages[0].content[${at + 1}].image_url.url`
    expect([status, body.error.param, body.error.message]).toEqual([
      400,
      param,
      expect.stringContaining(`${param}: expected ${expected}.`),
    ])
    const content = sent.map((url) => ({ type: 'input_image', image_url: url }))
    const responses = await system.api.call('POST', '/api/v1/responses', {
      token: key,
      body: { model: 'openai', input: [{ role: 'user', content }] },
    })
    expect([responses.status, responses.body.error.param]).toEqual([400, `input[0].content[${at}]`])
    const chat = await client.ask({ agent: 'dify', variables: { files: sent } })
    expect([chat.status, chat.body.detail]).toEqual([
      400,
      `body.variables.files[${at}]: expected ${expected}.`,
    ])
    const input = { agentId: 'dify', query: 'Hello', variables: { files: sent } }
    const document = 'mutation ($input: ChatInput!) { chat(input: $input) { callId } }'
    const { errors } = await graphql(system.gateway, document, { variables: { input }, as: key })
    expect(errors?.map(({ message, extensions: { status: code } }) => [code, message])).toEqual([
      [400, expect.stringContaining(`variables.files[${at}]: expected ${expected}.`)],
    ])
  }
})

test('after all of these calls, nothing has connected to this machine', () => {
  expect(connections).toBe(0)
})

/** The questions whose reply was another than 400 for a field. */
async function notRefused(questions: readonly Question[]): Promise<object[]> {
  const passed: object[] = []
  for (const question of questions) {
    const { status, body } = await client.ask(question)
    const reason = body?.reason ?? body?.error?.code
    if (status !== 400 || reason !== 'invalid_request') passed.push({ question, status, body })
  }
  return passed
}
