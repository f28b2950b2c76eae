import { ConflictError, Trunkline } from '@trunkline/sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'

// A process, because a question is kept by the gateway, and answered over another connection.

let system: GatewayWithSandbox
let client: Trunkline

beforeAll(async () => {
  system = await startGatewayWithSandbox({
    agents: (_entries, { agents: { dify } }) => ({
      chatflow: { platform: 'dify', baseUrl: dify.baseUrl, apiKey: dify.keys.chatflow2026 },
      workflow: { platform: 'dify', baseUrl: dify.baseUrl, apiKey: dify.keys.workflow, mode: 'workflow' },
    }),
  })
  client = new Trunkline({ baseURL: system.gateway.url, apiKey: system.key, maxRetries: 0 })
})
afterAll(() => system?.remove())

describe.each(['chatflow', 'workflow'])('a conversation with a %s that asks', (agent) => {
  test('answers by an option, a form and the next question, each once', async () => {
    const talk = client.chat.conversation({ agent })
    await talk.create('sandbox:interactive=twice')
    const first = talk.pause ?? expect.unreachable('Nothing was asked.')
    expect(first.options).toEqual([
      { id: 'approve', title: 'Approve' },
      { id: 'reject', title: 'Reject' },
    ])
    const stream = talk.answerStream({ option: 'approve' })
    await stream.final()
    expect(talk.pause).toEqual(stream.pause)
    expect(talk.pause?.id).not.toBe(first.id)
    const reply = await talk.answer({ option: 'reject' })
    expect([reply.pause, talk.pause]).toEqual([undefined, undefined])

    await talk.create('sandbox:interactive=text')
    expect((await talk.answer({ fields: { comment: 'Two rooms.' } })).text).toContain('Two rooms.')
  })

  test('is refused where another program has answered, and knows that nothing is open then', async () => {
    const talk = client.chat.conversation({ agent })
    await talk.create('sandbox:interactive')
    const answer = { pause: talk.pause?.id ?? '', option: 'approve' }
    await client.chat.create({ agent, query: '', answer })
    await expect(talk.answer({ option: 'reject' })).rejects.toMatchObject({
      constructor: ConflictError,
      reason: 'pause_over',
    })
    expect(talk.pause).toBeUndefined()
  })
})
