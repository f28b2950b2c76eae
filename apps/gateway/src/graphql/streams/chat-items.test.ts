import { describe, expect, test } from 'vitest'
import type { ChatEvent } from '#core/agents/events.ts'
import { pauseEvent } from '#core/agents/pause.test-support.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { chatOf } from '#core/calls/chat.test-support.ts'
import { type ChatItem, chatItems } from './chat-items.ts'

async function collect(items: AsyncIterator<ChatItem, undefined>): Promise<readonly ChatItem[]> {
  const taken: ChatItem[] = []
  for (;;) {
    const { value, done } = await items.next()
    if (done) return taken
    taken.push(value)
  }
}

const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3 }

const EVERY_EVENT: readonly ChatEvent[] = [
  { type: 'model', model: 'm-1' },
  { type: 'detail', detail: () => ({ type: 'node_started', name: 'start', data: {} }) },
  { type: 'reasoning', text: 'hm' },
  { type: 'text', text: 'Hello' },
  pauseEvent('Which?', ['a', 'b']),
  { type: 'replace', text: 'Withdrawn' },
  { type: 'usage', usage },
  { type: 'end', reason: 'length' },
]

describe('the items of a chat', () => {
  test('the first names the call, the last has model, reason and tokens', async () => {
    const chat = chatOf([EVERY_EVENT])
    const { callId, conversationId, created } = chat
    const items = await collect(chatItems(chat, { detail: false }))
    expect(items).toEqual([
      { type: 'started', chat: { callId, conversationId, created } },
      { type: 'text', text: 'Hello' },
      { type: 'text', text: '\n\nWhich?\n\n- a\n- b' },
      { type: 'text_replaced', text: 'Withdrawn' },
      { type: 'finished', model: 'm-1', finishReason: 'length', usage, pause: undefined, files: [] },
    ])
  })

  test('details stand between the texts, in their order, where they are wanted', async () => {
    const items = await collect(chatItems(chatOf([EVERY_EVENT]), { detail: true }))
    expect(items.map(({ type }) => type)).toEqual([
      'started',
      'node_started',
      'reasoning',
      'text',
      'text',
      'text_replaced',
      'replaced',
      'finished',
    ])
  })

  test('a failure comes after the items before it', async () => {
    async function* failing() {
      yield [{ type: 'text', text: 'Hel' }] as const
      throw new Problem('agent_truncated')
    }
    const items = chatItems(chatOf(failing()), { detail: false })
    await items.next()
    expect(await items.next()).toEqual({ value: { type: 'text', text: 'Hel' }, done: false })
    await expect(items.next()).rejects.toMatchObject({ reason: 'agent_truncated' })
    expect(await items.next()).toEqual({ value: undefined, done: true })
  })

  test('leaving abandons the reply while the platform is silent, and before it was asked', async () => {
    for (const taken of [0, 1]) {
      let hasLeft = false
      const events = {
        read: () => new Promise<void>(() => undefined),
        leave: () => {
          hasLeft = true
        },
      }
      const items = chatItems(chatOf([], { events }), { detail: false })
      for (let index = 0; index < taken; index += 1) await items.next()
      const silent = taken > 0 ? items.next() : undefined
      await items.return?.()
      expect(hasLeft).toBe(true)
      if (silent !== undefined) expect(await silent).toEqual({ value: undefined, done: true })
      expect(await items.next()).toEqual({ value: undefined, done: true })
    }
  })
})
