import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, apiOf } from '../support/api.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { type ScriptedPlatform, sse, startScriptedPlatform } from '../support/scripted-platform.ts'
import { payloadsOf, readerOf } from '../support/stream.ts'

// A process, because a bad id must reach neither the database nor another call of the same process.

/** Ids that can neither be stored nor be sent back unchanged. */
const BAD_IDS: readonly (readonly [string, string])[] = [
  ['a NUL', 'conversation\0 1'],
  ['a line break', 'conversation\n1'],
  ['a lone surrogate', 'conversation \ud800'],
  ['ten thousand characters', 'c'.repeat(10_000)],
]

let platform: ScriptedPlatform
let gateway: TestGateway
let api: Api
let key: string
/** The id that the platforms assign to the next conversation and run. */
let ids = { conversation: '', run: '' }
let release = (): void => undefined

beforeAll(async () => {
  platform = await startScriptedPlatform(async (path, body, response) => {
    if (path.endsWith('/create_conversation')) {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ Conversation: { AppConversationID: ids.conversation } }))
      return
    }
    response.setHeader('content-type', 'text/event-stream')
    const { conversation, run } = body.query === 'good' ? { conversation: randomUUID(), run: 'run' } : ids
    if (path.includes('/v3/chat')) response.end(cozeReply(conversation, run))
    else if (path.includes('chat_query')) response.end(hiagentReply(run))
    else {
      response.write(sse({ event: 'message', answer: 'Hi', task_id: run, conversation_id: conversation }))
      if (body.query === 'good') {
        await new Promise<void>((resolve) => {
          release = resolve
        })
      }
      response.end(sse({ event: 'message_end', task_id: run, conversation_id: conversation, metadata: {} }))
    }
  })
  const agentOf = (name: string, more = {}) => ({
    platform: name,
    baseUrl: platform.origin,
    apiKey: 'key',
    ...more,
  })
  const agents = Object.fromEntries([
    ['dify', agentOf('dify')],
    // Each id has agents of its own, since a deployment that sends one malformed reply after the other is used no more.
    ...BAD_IDS.flatMap((_id, index) => [
      [`dify-${index}`, agentOf('dify')],
      [`coze-${index}`, agentOf('coze', { botId: '1' })],
      [`hiagent-${index}`, agentOf('hiagent', { retry: { attempts: 1 } })],
    ]),
  ])
  gateway = await startGateway({ config: JSON.stringify({ agents }) })
  api = apiOf(gateway)
  key = (await api.createKey(await api.login())).full_key
})
afterAll(async () => {
  await gateway.remove()
  await platform.close()
})

function cozeReply(conversation: string, run: string): string {
  const frame = (event: string, data: object) => `event: ${event}\n${sse(data)}`
  const ids = { conversation_id: conversation, chat_id: run }
  return [
    frame('conversation.message.delta', { ...ids, id: '1', type: 'answer', content: 'Hi' }),
    frame('conversation.chat.completed', { id: run, conversation_id: conversation, status: 'completed' }),
  ].join('')
}

function hiagentReply(run: string): string {
  return sse(
    { event: 'message', task_id: run, id: run, answer: 'Hi' },
    { event: 'message_end', task_id: run },
  )
}

async function ask(agent: string, stream: boolean): Promise<{ status: number; text: string }> {
  const id = randomUUID()
  const response = await api.chat(key, agent, { stream, chat_id: id, conversation_id: id, app_id: '' })
  return { status: response.status, text: await response.text() }
}

describe.each(BAD_IDS.map(([name, id], index) => [name, id, index] as const))(
  'an id with %s',
  (_name, id, index) => {
    test.each(['dify', 'coze', 'hiagent'])(
      'makes the reply of %s malformed, and does not affect other calls',
      async (platformName) => {
        const agent = `${platformName}-${index}`
        const other = readerOf(
          await api.chat(key, 'dify', { stream: true, query: 'good', chat_id: randomUUID() }),
        )
        await other.until(/"Hi"/)

        for (const bad of [
          { conversation: id, run: 'run' },
          { conversation: 'conversation', run: id },
        ]) {
          ids = bad
          expect(await ask(agent, false)).toMatchObject({
            status: 502,
            text: expect.stringContaining('"agent_malformed"'),
          })
          const streamed = await ask(agent, true)
          expect(streamed.text).toContain('"agent_malformed"')
          expect(streamed.text).not.toContain('[DONE]')
        }

        release()
        expect(payloadsOf(await other.rest()).at(-1)).toBe('[DONE]')
      },
    )
  },
)
