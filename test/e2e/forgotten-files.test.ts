import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createFullKey,
  dataUrlOf,
  type FilesInChats,
  filesInChats,
  PHOTO,
  REPORT,
  traceOf,
  WAYS,
} from '../support/files-in-chats.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'

// A process, because a file goes from an upload through the gateway to a platform, which answers what it has received.

let system: GatewayWithSandbox
let client: FilesInChats

beforeAll(async () => {
  const plenty = { points: 100_000 }
  system = await startGatewayWithSandbox({
    settings: { limits: { chat: plenty, upload: plenty, calls: plenty } },
  })
  client = filesInChats(system, await createFullKey(system))
})
afterAll(() => system.remove())

test('where the platform may have taken the turn, the caller gets the refusal, and the next call brings the files anew', async () => {
  const { url } = await client.upload(REPORT)
  const ask = () => client.during('coze', () => client.ask({ agent: 'coze', files: [url] }))
  await ask()
  await client.ask({ agent: 'coze', query: 'sandbox:forget-files' })
  const refused = await ask()
  expect([refused.result.status, refused.uploads.length, refused.chats.length]).toEqual([400, 0, 1])
  const again = await ask()
  expect([again.result.status, again.uploads.length, again.chats.length]).toEqual([200, 1, 1])
  expect(again.result.text).toContain(traceOf(REPORT))
})

describe('when dify forgets the files that it has', () => {
  const agent = 'dify'

  const forget = () => client.ask({ agent, query: 'sandbox:forget-files' })

  test.each(WAYS)('the next call by %s brings them anew, and its caller sees one call', async (way) => {
    const files = await Promise.all([REPORT, PHOTO].map((file) => client.upload(file)))
    const urls = files.map(({ url }) => url)
    await client.ask({ agent, way, files: urls })
    await forget()
    const { result, uploads, chats } = await client.during(agent, () =>
      client.ask({ agent, way, files: urls }),
    )
    expect(result.status).toBe(200)
    for (const file of [REPORT, PHOTO]) expect(result.text).toContain(traceOf(file))
    expect([uploads.length, chats.length]).toEqual([2, 2])
    expect(await client.callsOf(result)).toMatchObject([{ outcome: 'done', reason: null }])
    // The new ids are kept.
    const again = await client.during(agent, () => client.ask({ agent, way, files: urls }))
    expect([again.uploads.length, again.chats.length]).toEqual([0, 1])
  })

  test('a call that brings other files as well sends only those anew that it took for known', async () => {
    const [known, fresh] = [await client.upload(REPORT), await client.upload(PHOTO)]
    await client.ask({ agent, files: [known.url] })
    await forget()
    const { result, uploads } = await client.during(agent, () =>
      client.ask({ agent, files: [known.url, fresh.url] }),
    )
    for (const file of [REPORT, PHOTO]) expect(result.text).toContain(traceOf(file))
    expect(uploads).toMatchObject([PHOTO, REPORT].map(({ name }) => ({ body: { file: { filename: name } } })))
  })

  test('files that the request itself carries are brought again with them', async () => {
    const { url } = await client.upload(REPORT)
    const parts = [
      { type: 'file', file: { file_data: url } },
      { type: 'image_url', image_url: { url: dataUrlOf(PHOTO) } },
    ]
    await client.ask({ agent, files: [url] })
    await forget()
    const { text } = await client.ask({ agent, way: 'completions', parts })
    for (const file of [REPORT, PHOTO]) expect(text).toContain(traceOf(file))
  })

  test.each([
    ['twice', true, [1, 2]],
    ['right after it got them', false, [1, 1]],
  ] as const)('%s, the caller gets its refusal once', async (_when, isKnown, counts) => {
    const { url } = await client.upload(REPORT)
    if (isKnown) await client.ask({ agent, files: [url] })
    // With these words in the question itself, the platform forgets its files before it looks this one up.
    const asked = () => client.ask({ agent, files: [url], query: 'sandbox:forget-files Hello' })
    const { result, uploads, chats } = await client.during(agent, asked)
    expect([result.status, result.body.reason]).toEqual([400, 'agent_rejected_input'])
    expect([uploads.length, chats.length]).toEqual(counts)
    expect(await client.callsOf(result)).toMatchObject([
      { outcome: 'rejected', reason: 'agent_rejected_input' },
    ])
  })
})
