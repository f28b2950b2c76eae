import { expect, test } from 'vitest'
import type { ChatEvent } from '#core/agents/events.ts'
import { Problem } from '#core/errors.ts'
import { chatOf } from './chat.test-support.ts'
import { foldReply } from './reply.ts'

const end: ChatEvent = { type: 'end', reason: 'stop' }

const fold = (events: readonly ChatEvent[], { detail = false } = {}) =>
  foldReply(chatOf(events.map((event) => [event])), { detail, replyBytesMax: 1_000 })

test('a reply is its text, its model and the tokens that the platform told', async () => {
  expect(
    await fold([
      { type: 'model', model: 'm-1' },
      { type: 'text', text: 'Hel' },
      { type: 'text', text: 'lo' },
      { type: 'usage', usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 } },
      { type: 'end', reason: 'content_filter' },
    ]),
  ).toStrictEqual({
    id: 'chat-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'm-1',
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    choices: [
      { index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'content_filter' },
    ],
  })
})

test('what the platform does not tell is absent, and its agent stands for its model', async () => {
  const reply = await fold([{ type: 'text', text: 'Hi' }, end])
  expect(reply).not.toHaveProperty('usage')
  expect(reply).not.toHaveProperty('detail')
  expect(reply.model).toBe('dify')
})

test('of a replaced text only the replacement is given, and a question stands after the text', async () => {
  const contentOf = async (...events: ChatEvent[]) =>
    (await fold([...events, end])).choices[0]?.message.content
  expect(await contentOf({ type: 'text', text: 'bad' }, { type: 'replace', text: 'good' })).toBe('good')
  expect(
    await contentOf(
      { type: 'text', text: 'Well.' },
      { type: 'interaction', question: 'Which?', options: ['a', 'b'] },
    ),
  ).toBe('Well.\n\nWhich?\n\n- a\n- b')
})

test('progress is a list, in which fragments of reasoning are one entry', async () => {
  const { detail } = await fold(
    [
      { type: 'detail', detail: { type: 'node_started', name: 'LLM' } },
      { type: 'reasoning', text: 'Let me ' },
      { type: 'reasoning', text: 'see.' },
      { type: 'text', text: 'bad' },
      { type: 'replace', text: 'good' },
      { type: 'tool_calls', delta: [{ index: 0 }] },
      { type: 'reasoning', text: 'So.' },
      end,
    ],
    { detail: true },
  )
  expect(detail).toEqual([
    { type: 'node_started', name: 'LLM' },
    { type: 'reasoning', data: { text: 'Let me see.' } },
    { type: 'replaced', data: { text: 'good' } },
    { type: 'tool_call', data: [{ index: 0 }] },
    { type: 'reasoning', data: { text: 'So.' } },
  ])
})

test('a reply that grows beyond its size is a failure', async () => {
  const chat = chatOf(Array(3).fill([{ type: 'text', text: 'x'.repeat(400) }]))
  await expect(foldReply(chat, { detail: false, replyBytesMax: 1_000 })).rejects.toMatchObject({
    reason: 'agent_malformed',
  })
})

test('progress counts towards the size', async () => {
  const batch: ChatEvent[] = [{ type: 'reasoning', text: 'x'.repeat(400) }]
  const read = (detail: boolean) =>
    foldReply(chatOf([batch, batch, batch, [end]]), { detail, replyBytesMax: 1_000 })
  await expect(read(true)).rejects.toMatchObject({ reason: 'agent_malformed' })
  expect((await read(false)).choices[0]?.finish_reason).toBe('stop')
})

test('the call’s own problem is passed on', async () => {
  const problem = new Problem('agent_timeout')
  async function* failing() {
    yield [{ type: 'text', text: 'Hi' }] as const
    throw problem
  }
  await expect(foldReply(chatOf(failing()), { detail: false, replyBytesMax: 1_000 })).rejects.toBe(problem)
})
