import { expect, test } from 'vitest'
import {
  agentFor,
  callOf,
  conversationOf,
  readBy,
  textSent,
  transcriptNamed,
} from '#core/agents/transcripts.test-support.ts'
import { dify } from './adapter.ts'

const ID = '45701982-8118-4bc5-8e9b-64562b4555f2'
const agent = agentFor(dify)
const conversation = conversationOf(agent, { platformConversationId: ID })
const calls = dify.conversations?.(agent)
const NO_HEADER = () => undefined

test('the messages are asked for by turns, and read with their files, ratings and the next cursor', () => {
  const call = calls?.history?.(conversation, { limit: 3 })
  if (call === undefined) throw new Error('there is no such call')
  expect(call.request).toEqual({
    method: 'GET',
    url: `https://platform.example/v1/messages?conversation_id=${ID}&user=0123456789abcdefghij&limit=2`,
    headers: { authorization: 'Bearer key-of-agent' },
  })
  expect(readBy(call, transcriptNamed('dify/messages.txt'))).toEqual({
    ok: {
      items: [
        {
          id: '9da23599-e713-473b-982c-4328d4f5c78a-question',
          role: 'user',
          text: 'What are the specs of the iPhone 13 Pro Max?',
          files: [{ url: 'https://upload.example/phone.png?sign=x', name: 'phone.png' }],
          createdAt: new Date('2024-01-16T12:20:29Z'),
        },
        {
          id: '9da23599-e713-473b-982c-4328d4f5c78a',
          role: 'assistant',
          text: 'iPhone 13 Pro Max specs are listed here:...',
          files: [{ url: '/files/tools/specs.pdf?timestamp=1&nonce=2&sign=x', name: 'specs.pdf' }],
          createdAt: new Date('2024-01-16T12:20:29Z'),
          answerId: '9da23599-e713-473b-982c-4328d4f5c78a',
          rating: 'up',
        },
        // Its answer failed, so that there is none.
        {
          id: '5ad4cb98-f0c7-4085-b384-88c403be6290-question',
          role: 'user',
          text: 'Thanks',
          files: [],
          createdAt: new Date('2024-01-16T12:21:40Z'),
        },
      ],
      before: '9da23599-e713-473b-982c-4328d4f5c78a',
    },
  })
})

test('an older page ends before the first message of the page after it', () => {
  const url = calls?.history?.(conversation, { limit: 500, before: 'a&b' }).request.url ?? ''
  const { searchParams } = new URL(url)
  expect(Object.fromEntries(searchParams)).toMatchObject({ limit: '100', first_id: 'a&b' })
})

test('a text in think tags is no part of a message where the operator says so', () => {
  const body = {
    data: [{ id: 'a', query: '<think>', answer: '<think>hm</think>\n\nYes.', message_files: 7 }],
  }
  const textsOf = (thinkTags: boolean) => {
    const own = { ...conversation, agent: agentFor(dify, { thinkTags }) }
    const read = calls?.history?.(own, { limit: 2 }).read(200, body, NO_HEADER)
    return read !== undefined && 'ok' in read ? read.ok.items.map(({ text }) => text) : []
  }
  expect(textsOf(true)).toEqual(['<think>', '\n\nYes.'])
  expect(textsOf(false)).toEqual(['<think>', '<think>hm</think>\n\nYes.'])
})

test.each([
  ['without a list', 200, { has_more: false }, 'agent_malformed'],
  ['that is a page', 200, '<html>', 'agent_malformed'],
  [
    'of a lost conversation',
    404,
    { code: 'not_found', message: 'Conversation Not Exists.' },
    'conversation_not_found',
  ],
  [
    'to a wrong cursor',
    404,
    { code: 'not_found', message: 'First Message Not Exists.' },
    'agent_rejected_input',
  ],
  [
    'to wrong credentials',
    401,
    { code: 'unauthorized', message: 'Access token is invalid' },
    'agent_credentials',
  ],
])('a reply %s is a failure', (_name, status, body, reason) => {
  const read = calls?.history?.(conversation, { limit: 20 }).read(status, body, NO_HEADER)
  expect(read).toMatchObject({ failure: { reason } })
})

test('a name is sent with the user, to whom alone the conversation is known', () => {
  const call = calls?.rename?.(conversation, 'Phones')
  if (call === undefined) throw new Error('there is no such call')
  expect(call.request).toMatchObject({
    method: 'POST',
    url: `https://platform.example/v1/conversations/${ID}/name`,
  })
  expect(JSON.parse(textSent(call.request))).toEqual({
    name: 'Phones',
    auto_generate: false,
    user: '0123456789abcdefghij',
  })
  expect(readBy(call, transcriptNamed('dify/conversation-renamed.txt'))).toEqual({ ok: undefined })
})

test('a deletion has a body, and none of the conversation that is gone is needed', () => {
  const call = calls?.remove?.(conversation)
  if (call === undefined) throw new Error('there is no such call')
  expect(call.request).toMatchObject({
    method: 'DELETE',
    url: `https://platform.example/v1/conversations/${ID}`,
    headers: { 'content-type': 'application/json' },
  })
  expect(JSON.parse(textSent(call.request))).toEqual({ user: '0123456789abcdefghij' })
  expect(call.read(204, '', NO_HEADER)).toEqual({ ok: undefined })
  const gone = { code: 'not_found', message: 'Conversation Not Exists.', status: 404 }
  expect(call.read(404, gone, NO_HEADER)).toEqual({ ok: undefined })
  expect(call.read(502, '<html>', NO_HEADER)).toMatchObject({ failure: { reason: 'agent_error' } })
})

test.each([
  ['up', 'Well done', { rating: 'like', content: 'Well done' }],
  ['down', undefined, { rating: 'dislike' }],
  [null, undefined, { rating: null }],
] as const)('a rating %s is sent as Dify has it', (rating, text, sent) => {
  const call = calls?.rate?.(conversation, { answerId: 'm/1', rating, ...(text !== undefined && { text }) })
  if (call === undefined) throw new Error('there is no such call')
  expect(call.request.url).toBe('https://platform.example/v1/messages/m%2F1/feedbacks')
  expect(JSON.parse(textSent(call.request))).toEqual({ ...sent, user: '0123456789abcdefghij' })
  expect(call.read(200, { result: 'success' }, NO_HEADER)).toEqual({ ok: undefined })
  const notRated = readBy(call, transcriptNamed('dify/feedback-not-rated.txt'))
  if (rating === null) expect(notRated).toEqual({ ok: undefined })
  else expect(notRated).toMatchObject({ failure: { reason: 'agent_rejected_input' } })
  expect(readBy(call, transcriptNamed('dify/message-not-exists.txt'))).toMatchObject({
    failure: { reason: 'conversation_not_found' },
  })
})

test('a text generator takes ratings alone, and a workflow nothing', () => {
  const callsOf = (mode: 'completion' | 'workflow') =>
    dify.conversations?.(agentFor(dify, { options: { mode } }))
  expect(Object.keys(callsOf('completion') ?? {})).toEqual(['rate'])
  expect(callsOf('workflow')).toBeUndefined()
})

test('the answer has the id of the message, if it is one that can be kept', () => {
  const state = dify.start(callOf(agent))
  const say = (id: unknown) =>
    dify.translate(
      { event: undefined, data: JSON.stringify({ event: 'message', message_id: id, answer: 'a' }) },
      state,
    )
  say('m1')
  expect(state.answerId).toBe('m1')
  say('nul\u0000')
  say(7.5)
  expect(state.answerId).toBe('m1')
  say(7)
  expect(state.answerId).toBe('7')
})
