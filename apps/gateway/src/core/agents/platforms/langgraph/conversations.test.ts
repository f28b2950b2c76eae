import { expect, test } from 'vitest'
import {
  agentFor,
  callOf,
  conversationOf,
  readBy,
  transcriptNamed,
} from '#core/agents/transcripts.test-support.ts'
import { langgraph } from './adapter.ts'

const agent = agentFor(langgraph)
const platformConversationId = '0123456789abcdef0123456789abcdef'
const conversation = conversationOf(agent, { platformConversationId })
const calls = langgraph.conversations?.(agent)
const URL_OF_THREAD = 'https://platform.example/threads/01234567-89ab-8def-8123-456789abcdef'
const NO_HEADER = () => undefined

function history(limit: number, before?: string) {
  const call = calls?.history?.(conversation, { limit, ...(before !== undefined && { before }) })
  if (call === undefined) throw new Error('there is no such call')
  return call
}

test('the messages are those of the state of the thread that the runs have', () => {
  expect(history(20).request).toEqual({
    method: 'GET',
    url: `${URL_OF_THREAD}/state`,
    headers: { 'x-api-key': 'key-of-agent' },
  })
  expect(langgraph.buildRequest(callOf(agent, { platformConversationId })).url).toBe(
    `${URL_OF_THREAD}/runs/stream`,
  )
  expect(readBy(history(20), transcriptNamed('langgraph/thread-state.txt'))).toEqual({
    ok: {
      items: [
        {
          id: '8c5cf0a3-5d2f-4a6b-8c1f-0d4f5e6a7b01',
          role: 'user',
          text: 'What is in it?',
          files: [{ url: 'https://x/y.png' }],
        },
        // As in a reply, the last message of the model is the answer.
        { id: 'run--3', role: 'assistant', text: 'A cat.', files: [], answerId: 'run--3' },
        { id: '8c5cf0a3-5d2f-4a6b-8c1f-0d4f5e6a7b02', role: 'user', text: 'Thanks', files: [] },
      ],
    },
  })
})

test('pages are cut out of the state, from the newest message on', () => {
  const transcript = transcriptNamed('langgraph/thread-state.txt')
  expect(readBy(history(2), transcript)).toMatchObject({
    ok: { items: [{ text: 'A cat.' }, { text: 'Thanks' }], before: '1' },
  })
  expect(readBy(history(2, '1'), transcript)).toEqual({
    ok: { items: [expect.objectContaining({ text: 'What is in it?' })] },
  })
  expect(readBy(history(2, '-1'), transcript)).toMatchObject({ failure: { reason: 'agent_rejected_input' } })
})

test('a thread in which nothing has run has no messages', () => {
  expect(history(20).read(200, { values: {} }, NO_HEADER)).toEqual({ ok: { items: [] } })
  expect(history(20).read(200, { values: null }, NO_HEADER)).toEqual({ ok: { items: [] } })
})

test.each([
  [404, { detail: 'Thread with ID x not found' }, 'conversation_not_found'],
  [404, '', 'conversation_not_found'],
  [404, '<html>', 'agent_error'],
  [401, { detail: 'no' }, 'agent_credentials'],
  [200, { values: { messages: 7 } }, 'agent_malformed'],
  [200, [], 'agent_malformed'],
])('a reply %i %j is a failure', (status, body, reason) => {
  expect(history(20).read(status, body, NO_HEADER)).toMatchObject({ failure: { reason } })
})

test('a deletion finds that the thread is gone a success', () => {
  const call = calls?.remove?.(conversation)
  if (call === undefined) throw new Error('there is no such call')
  expect(call.request).toEqual({
    method: 'DELETE',
    url: URL_OF_THREAD,
    headers: { 'x-api-key': 'key-of-agent' },
  })
  expect(call.read(204, '', NO_HEADER)).toEqual({ ok: undefined })
  expect(call.read(404, { detail: 'not found' }, NO_HEADER)).toEqual({ ok: undefined })
  expect(call.read(409, {}, NO_HEADER)).toMatchObject({ failure: { reason: 'conversation_busy' } })
})

test('threads have neither names nor ratings', () => {
  expect(Object.keys(calls ?? {})).toEqual(['history', 'remove'])
})

test('the answer has the id of the message that the state of the thread has', () => {
  const state = langgraph.start(callOf(agent, { platformConversationId }))
  const say = (id: string, content: string) =>
    langgraph.translate({ event: 'messages', data: JSON.stringify([{ type: 'ai', id, content }, {}]) }, state)
  say('run--1', 'A draft.')
  say('run--2', 'A cat.')
  expect(state.answerId).toBe('run--2')
})
