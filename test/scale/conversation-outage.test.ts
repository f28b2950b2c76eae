import { randomUUID } from 'node:crypto'
import { createScratchDatabase } from '@trunkline/gateway/src/core/database/scratch-database.test-support.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, apiOf } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { query } from '../support/query.ts'
import { type ScriptedPlatform, sse, startScriptedPlatform } from '../support/scripted-platform.ts'
import { payloadsOf, readerOf } from '../support/stream.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'

// A process, because connections to the database break while replies go on, and the log of the process reports it.

const server = process.env.E2E_DATABASE_URL ?? ''

describe.skipIf(server === '')('a database server that goes away while replies run', () => {
  let database: Awaited<ReturnType<typeof createScratchDatabase>>
  let proxy: TcpProxy
  let platform: ScriptedPlatform
  let gateway: TestGateway
  let api: Api
  let key: string
  /** Promises that the next reply awaits before it names its conversation, and before it ends. */
  let naming = Promise.withResolvers<void>()
  let ending = Promise.withResolvers<void>()
  /** Ids of the conversations that calls continued. */
  const carriedOn: unknown[] = []

  beforeAll(async () => {
    database = await createScratchDatabase(server)
    proxy = await startTcpProxy(database.url)
    platform = await startScriptedPlatform(async (_path, body, response) => {
      carriedOn.push(body.conversation_id)
      const ids = { task_id: 'run', conversation_id: body.conversation_id ?? randomUUID() }
      response.setHeader('content-type', 'text/event-stream')
      response.write(sse({ event: 'message', answer: 'Before. ' }))
      await naming.promise
      response.write(sse({ event: 'message', answer: 'After.', ...ids }))
      await ending.promise
      response.end(sse({ event: 'message_end', ...ids, metadata: {} }))
    })
    const agents = { dify: { platform: 'dify', baseUrl: platform.origin, apiKey: 'key' } }
    gateway = await startGateway({ config: JSON.stringify({ agents }), databaseUrl: proxy.url })
    api = apiOf(gateway)
    key = (await api.createKey(await api.login())).full_key
  })
  afterAll(async () => {
    await gateway?.remove()
    await platform?.close()
    await proxy?.close()
    await database?.drop()
  })

  async function openStream(chat_id: string) {
    naming = Promise.withResolvers()
    ending = Promise.withResolvers()
    const stream = readerOf(await api.chat(key, 'dify', { stream: true, chat_id, app_id: '' }))
    await stream.until(/Before/)
    return stream
  }

  const isReady = () =>
    fetch(`${gateway.url}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    )

  test('for a moment while a conversation is bound: the reply completes, and the next turn continues the conversation', async () => {
    const stream = await openStream('moment')
    await proxy.cut()
    naming.resolve()
    await stream.until(/After/)
    await until('the gateway has noticed', async () => !(await isReady()))
    await proxy.restore()
    await until('it is ready', isReady)
    ending.resolve()
    expect(payloadsOf(await stream.rest()).at(-1)).toBe('[DONE]')

    const next = await openStream('moment')
    naming.resolve()
    ending.resolve()
    await next.rest()
    const [row] = await query<{ platform_id: string }>(
      database.url,
      'SELECT platform_id FROM conversations WHERE platform_id IS NOT NULL',
    )
    expect(carriedOn).toEqual([undefined, row?.platform_id])
  })

  test('from the binding of a conversation until the end of its reply: every stream completes, and the failure is logged', async () => {
    const other = await openStream('other')
    const [otherNaming, otherEnding] = [naming, ending]
    const stream = await openStream('gone')
    await proxy.cut()
    naming.resolve()
    await stream.until(/After/)
    ending.resolve()
    expect(payloadsOf(await stream.rest()).at(-1)).toBe('[DONE]')
    await gateway.prints(/"outcome":"done".*"msg":"call failed"/)

    await proxy.restore()
    otherNaming.resolve()
    otherEnding.resolve()
    expect(payloadsOf(await other.rest()).at(-1)).toBe('[DONE]')
    await until('it is ready', isReady)
    expect(gateway.output).not.toContain('was not handled')
  })
})
