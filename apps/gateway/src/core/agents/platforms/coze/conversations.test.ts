import { expect, test } from 'vitest'
import {
  agentFor,
  callOf,
  conversationOf,
  readBy,
  textSent,
  transcriptNamed,
} from '#core/agents/transcripts.test-support.ts'
import { coze } from './adapter.ts'

const ID = '737363834493434'
const agent = agentFor(coze)
const conversation = conversationOf(agent, { platformConversationId: ID })
const calls = coze.conversations?.(agent)
const NO_HEADER = () => undefined

function present<Call>(call: Call | undefined): Call {
  if (call === undefined) throw new Error('there is no such call')
  return call
}

test('the messages of the clouds are read from the newest on, and the cursor goes on after the last one', () => {
  const call = present(calls?.history?.(conversation, { limit: 2 }))
  expect(call.request).toMatchObject({
    method: 'POST',
    url: `https://platform.example/v1/conversation/message/list?conversation_id=${ID}`,
    headers: { authorization: 'Bearer key-of-agent' },
  })
  expect(JSON.parse(textSent(call.request))).toEqual({ order: 'desc', limit: 2 })
  expect(readBy(call, transcriptNamed('coze/message-list.txt'))).toEqual({
    ok: {
      items: [
        {
          id: '737363834493437',
          role: 'user',
          text: '你的名字叫什么',
          files: [{ url: 'https://x/y.png' }],
          createdAt: new Date('2024-05-27T11:37:09Z'),
        },
        {
          id: '737363834493440',
          role: 'assistant',
          text: '我的名字叫bot',
          files: [],
          // A number in a text.
          createdAt: new Date('2024-05-27T11:37:11Z'),
          answerId: '737363834493440',
        },
      ],
      before: 'after:737363834493437',
    },
  })
})

test('coze-studio names what is before a page, and its steps are no messages', () => {
  const call = present(calls?.history?.(conversation, { limit: 100 }))
  expect(readBy(call, transcriptNamed('coze/message-list-studio.txt'))).toMatchObject({
    ok: {
      items: [
        { id: '7526100000000000002', role: 'user', text: '查一下' },
        { id: '7526100000000000004', role: 'assistant', text: '好的' },
      ],
      before: 'before:7526100000000000002',
    },
  })
})

test.each([
  ['after:1', { after_id: '1' }],
  ['before:2', { before_id: '2' }],
  ['3', { before_id: '3' }],
])('the cursor %s goes where it came from', (before, place) => {
  const { request } = present(calls?.history?.(conversation, { limit: 60, before }))
  expect(JSON.parse(textSent(request))).toEqual({ order: 'desc', limit: 50, ...place })
})

test.each([
  [{ code: 4002, msg: 'The conversation does not exist.' }, 'conversation_not_found'],
  [{ code: 4200, msg: 'Requested resource does not exist.' }, 'conversation_not_found'],
  [{ code: 103000002, msg: 'conversation not found' }, 'conversation_not_found'],
  [{ code: 4100, msg: 'authentication is invalid' }, 'agent_credentials'],
  [{ code: 0, msg: '' }, 'agent_malformed'],
  ['<html>', 'agent_malformed'],
])('a reply %j with status 200 is a failure', (body, reason) => {
  const read = calls?.history?.(conversation, { limit: 2 }).read(200, body, NO_HEADER)
  expect(read).toMatchObject({ failure: { reason } })
})

test('a deletion finds that the conversation is gone a success', () => {
  const call = present(calls?.remove?.(conversation))
  expect(call.request).toEqual({
    method: 'DELETE',
    url: `https://platform.example/v1/conversations/${ID}`,
    headers: { authorization: 'Bearer key-of-agent' },
  })
  expect(readBy(call, transcriptNamed('coze/conversation-deleted.txt'))).toEqual({ ok: undefined })
  expect(call.read(200, { code: 4200, msg: '' }, NO_HEADER)).toEqual({ ok: undefined })
  const denied = call.read(200, { code: 4101, msg: 'The token has no permission' }, NO_HEADER)
  expect(denied).toMatchObject({ failure: { reason: 'agent_credentials' } })
})

test('a rating is posted, and deleted where it is taken back', () => {
  const url = `https://platform.example/v1/conversations/${ID}/messages/m1/feedback`
  const rate = (rating: 'up' | 'down' | null, text?: string) =>
    present(calls?.rate?.(conversation, { answerId: 'm1', rating, ...(text !== undefined && { text }) }))
  expect(rate('up').request).toMatchObject({ method: 'POST', url })
  expect(JSON.parse(textSent(rate('up').request))).toEqual({ feedback_type: 'like' })
  const bad = JSON.parse(textSent(rate('down', 'No').request))
  expect(bad).toEqual({ feedback_type: 'unlike', comment: 'No' })
  expect(rate(null).request).toEqual({
    method: 'DELETE',
    url,
    headers: { authorization: 'Bearer key-of-agent' },
  })
  expect(rate('up').read(200, { code: 0, msg: '' }, NO_HEADER)).toEqual({ ok: undefined })
})

test('Coze has no names for conversations that the gateway would give them', () => {
  expect(calls).not.toHaveProperty('rename')
})

test('the id of the last answer is that of the reply', () => {
  const state = coze.start(callOf(agent))
  const complete = (id: string, type: string) =>
    coze.translate(
      {
        event: 'conversation.message.completed',
        data: JSON.stringify({ id, type, content: 'a', content_type: 'text' }),
      },
      state,
    )
  complete('1', 'answer')
  complete('2', 'answer')
  complete('3', 'follow_up')
  expect(state.answerId).toBe('2')
})
