import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { makeApiKey } from '@trunkline/gateway/src/core/accounts/keys/key-format.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  createFullKey,
  dataUrlOf,
  type FilesInChats,
  filesInChats,
  PHOTO,
  REPORT,
  traceOf,
} from '../support/files-in-chats.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'

// A process, because a large body must be refused before it is sent, which is seen on the socket.

const MIB = 1024 * 1024

let system: GatewayWithSandbox
let client: FilesInChats
let key: string

beforeAll(async () => {
  system = await startGatewayWithSandbox()
  key = await createFullKey(system)
  client = filesInChats(system, key)
})
afterAll(() => system.remove())

/** A file part with so many characters of base64. */
function partOf(characters: number) {
  const bytes = Buffer.concat([REPORT.content, randomBytes((characters / 4) * 3 - REPORT.content.length)])
  const file = { ...REPORT, content: bytes }
  return { file, part: { type: 'file', file: { filename: 'report.pdf', file_data: dataUrlOf(file) } } }
}

test.each(['dify', 'coze', 'openai'])('%s receives 19 MiB of data that a request carries', async (agent) => {
  const { file, part } = partOf(19 * MIB)
  const { status, text: reply } = await client.ask({ agent, way: 'completions', parts: [part] })
  expect([status, reply]).toEqual([200, expect.stringContaining(traceOf(file))])
})

test('a completion with a body of 21 MiB is refused', async () => {
  const asked = () => client.ask({ agent: 'dify', way: 'completions', parts: [partOf(21 * MIB).part] })
  const { result, uploads, chats } = await client.during('dify', asked)
  expect([result.status, result.body.error.code]).toEqual([413, 'body_too_large'])
  expect([...uploads, ...chats]).toEqual([])
})

test('the other route for chats takes 1 MiB, as before', async () => {
  const query = (length: number) => client.ask({ agent: 'dify', query: 'x'.repeat(length) })
  expect((await query(MIB - 1_000)).status).toBe(200)
  expect(await query(MIB)).toMatchObject({ status: 413, body: { reason: 'body_too_large' } })
})

test.each([
  ['with its length', { 'content-length': String(19 * MIB) }],
  ['in chunks', { 'transfer-encoding': 'chunked' }],
])('a large body %s under a key that does not exist is refused before it is sent', async (_what, framing) => {
  const unknown = makeApiKey(randomBytes)
  const { hostname, port } = new URL(system.gateway.url)
  const socket = connect({ host: hostname, port: Number(port) })
  const headers = { authorization: `Bearer ${unknown}`, 'content-type': 'application/json', ...framing }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.write(
    `POST /api/v1/chat/completions HTTP/1.1\r\nhost: ${hostname}:${port}\r\n${lines.join('\r\n')}\r\n\r\n`,
  )
  // Nothing of the body is ever sent.
  let reply = ''
  for await (const chunk of socket) {
    reply += chunk
    if (reply.includes('\r\n\r\n')) break
  }
  expect(reply).toMatch(/^HTTP\/1\.1 401 /)
})

test.each([
  ['fastgpt', 'image_url', { type: 'image_url', image_url: { url: dataUrlOf(PHOTO) } }, 'image_url.url'],
  ['hiagent', 'file', { type: 'file', file: { file_data: dataUrlOf(REPORT) } }, 'file.file_data'],
])(
  '%s takes no uploads, so a data: URL in a part of type %s is refused',
  async (agent, _type, part, field) => {
    const { status, body } = await client.ask({ agent, way: 'completions', parts: [part] })
    expect([status, body.error]).toEqual([
      400,
      expect.objectContaining({ code: 'invalid_request', param: `messages[0].content[1].${field}` }),
    ])
  },
)

test.each([
  ['of a type that is not accepted', Buffer.from([0x4d, 0x5a, 0, 0, 1, 2, 3]), 415, 'file_type_not_accepted'],
  ['that is empty', Buffer.of(), 400, 'invalid_request'],
])('a file %s is refused, and the error names its field', async (_what, content, status, code) => {
  const file_data = dataUrlOf({ mediaType: 'text/plain', content })
  const parts = [{ type: 'file', file: { filename: 'a.txt', file_data } }]
  const reply = await client.ask({ agent: 'dify', way: 'completions', parts })
  expect([reply.status, reply.body.error]).toEqual([
    status,
    expect.objectContaining({ code, param: 'messages[0].content[1].file.file_data' }),
  ])
})
