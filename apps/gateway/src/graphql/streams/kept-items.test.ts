import { expect, test } from 'vitest'
import type { ChatEvent } from '#core/agents/events.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { chatOf } from '#core/calls/chat.test-support.ts'
import { type ChatItem, chatItems } from './chat-items.ts'
import { parseReply } from './chat-reply.ts'
import { keptItems, parseItems } from './kept-items.ts'

const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3 }
const EVENTS: readonly ChatEvent[] = [
  { type: 'model', model: 'm-1' },
  { type: 'detail', detail: () => ({ type: 'node_started', name: 'start', data: {}, raw: { a: null } }) },
  { type: 'reasoning', text: 'hm' },
  { type: 'text', text: 'Hello\n\n{"type":"failed"}\n\n' },
  { type: 'replace', text: 'Withdrawn' },
  { type: 'usage', usage },
  { type: 'end', reason: 'length' },
]

async function itemsOf(events: readonly ChatEvent[], detail: boolean): Promise<ChatItem[]> {
  const taken: ChatItem[] = []
  const items = chatItems(chatOf([events]), { detail })
  for (let next = await items.next(); !next.done; next = await items.next()) taken.push(next.value)
  return taken
}

test.each([true, false])('a log has the items of a chat that is not kept (details: %s)', async (detail) => {
  const form = keptItems(chatOf([]), { detail })
  const texts = [form.opening ?? '', ...EVENTS.map((event) => form.encode(event))]
  expect(texts.flatMap(parseItems)).toEqual(await itemsOf(EVENTS, detail))
  // As many events as items, whatever is in their texts.
  expect(texts.join('').split('\n\n').length - 1).toBe(texts.flatMap(parseItems).length)
})

test('the failure of a chat is the last item of its log', () => {
  const form = keptItems(chatOf([]), { detail: false })
  const options = { detail: 'Too many questions.', retryAfterSeconds: 7 }
  expect(parseItems(form.fail(new Problem('agent_rate_limited', options)))).toEqual([
    { type: 'failed', problem: { reason: 'agent_rate_limited', ...options } },
  ])
})

test('a whole reply is stored by the names of the schema, and read again as it was', () => {
  const chat = chatOf([])
  const form = keptItems(chat, { detail: true })
  for (const event of EVENTS) form.collector.add(event)
  const text = form.serialize()
  expect(JSON.parse(text)).toEqual({
    callId: chat.callId,
    conversationId: 'chat-1',
    createdAt: '2023-11-14T22:13:20.000Z',
    text: 'Withdrawn',
    model: 'm-1',
    finishReason: 'length',
    usage,
    details: [
      { type: 'node_started', name: 'start', data: {}, raw: { a: null } },
      { type: 'reasoning', data: { text: 'hm' } },
      { type: 'replaced', data: { text: 'Withdrawn' } },
    ],
    files: [],
  })
  expect(parseReply(text)).toEqual(form.collector.reply)
})
