import { expect, test } from 'vitest'
import {
  agentFor,
  callOf,
  conversationOf,
  readBy,
  textSent,
  transcriptNamed,
} from '#core/agents/transcripts.test-support.ts'
import { fastgpt } from './adapter.ts'

const agent = agentFor(fastgpt)
const APP = { id: '66e0a1b2c3d4e5f607182930', name: 'Help', default: true, options: {} }
const conversation = conversationOf(agent, { app: APP, platformConversationId: 'chat 1' })
const calls = fastgpt.conversations?.(agent)
const CHAT = { chatId: 'chat 1', appId: APP.id }
const NO_HEADER = () => undefined

function present<Call>(call: Call | undefined): Call {
  if (call === undefined) throw new Error('there is no such call')
  return call
}

test('the records are asked for where releases since 4.14 have them, and where older ones do', () => {
  const { request, older } = present(calls?.history?.(conversation, { limit: 2 }))
  expect(request).toMatchObject({
    method: 'POST',
    url: 'https://platform.example/api/core/chat/record/getPaginationRecords',
  })
  expect(JSON.parse(textSent(request))).toEqual({ ...CHAT, offset: 0, pageSize: 2 })
  expect(older?.request.url).toBe('https://platform.example/api/core/chat/getPaginationRecords')
  expect(textSent(present(older?.request))).toBe(textSent(request))
})

test('the texts of an answer are joined, and the cursor counts what has been read', () => {
  const call = present(calls?.history?.(conversation, { limit: 2, before: '1' }))
  expect(JSON.parse(textSent(call.request))).toMatchObject({ offset: 1, pageSize: 2 })
  for (const each of [call, present(call.older)]) {
    expect(readBy(each, transcriptNamed('fastgpt/records.txt'))).toEqual({
      ok: {
        items: [
          {
            id: 'jzqdV4Ap1u004rhd2WW8yGLn',
            role: 'user',
            text: '你好',
            files: [{ url: 'https://x/y.png', name: 'y.png' }],
            createdAt: new Date('2024-10-13T08:29:26Z'),
          },
          {
            id: 'x9KQWcK9MApGdDQH7z7bocw1',
            role: 'assistant',
            text: '你好！\n\n有什么我可以帮助你的吗？',
            files: [],
            createdAt: new Date('2024-10-13T08:29:29Z'),
            answerId: 'x9KQWcK9MApGdDQH7z7bocw1',
            rating: 'up',
          },
        ],
        before: '3',
      },
    })
  }
})

test('parts without a type, a question and its answer are read, and hidden records are left out', () => {
  const call = present(calls?.history?.(conversation, { limit: 20 }))
  expect(readBy(call, transcriptNamed('fastgpt/records-2026.txt'))).toMatchObject({
    ok: {
      items: [
        { role: 'user', text: '订酒店' },
        {
          role: 'assistant',
          text: '好的。\n\n请选择\n\n- 确认\n- 取消\n\n已预订。',
          answerId: '0190a1b2-0000-7000-8000-000000000001',
          rating: 'down',
        },
      ],
    },
  })
  expect(readBy(call, transcriptNamed('fastgpt/records-2026.txt'))).not.toHaveProperty('ok.before')
})

test('a cursor that is no number is refused, whatever the platform replies', () => {
  const call = present(calls?.history?.(conversation, { limit: 2, before: 'x' }))
  for (const each of [call, present(call.older)])
    expect(readBy(each, transcriptNamed('fastgpt/records.txt'))).toMatchObject({
      failure: { reason: 'agent_rejected_input' },
    })
})

test.each([
  [200, { code: 514, statusText: 'unAuthApiKey', message: '' }, 'agent_credentials'],
  [500, { code: 504000, statusText: 'unAuthChat', message: '' }, 'conversation_not_found'],
  [500, { code: 502000, statusText: 'appUnExist', message: '' }, 'app_not_found'],
  [200, { code: 200, data: { total: 3 } }, 'agent_malformed'],
  [200, 'text', 'agent_malformed'],
])('a reply %i %j is a failure', (status, body, reason) => {
  const read = calls?.history?.(conversation, { limit: 2 }).read(status, body, NO_HEADER)
  expect(read).toMatchObject({ failure: { reason } })
})

test('a name is the custom title of the chat', () => {
  const { request, older, read } = present(calls?.rename?.(conversation, 'Trips'))
  expect(request).toMatchObject({
    method: 'PUT',
    url: 'https://platform.example/api/core/chat/history/updateHistory',
  })
  expect(JSON.parse(textSent(request))).toEqual({ ...CHAT, customTitle: 'Trips' })
  expect(older?.request).toMatchObject({
    method: 'POST',
    url: 'https://platform.example/api/core/chat/updateHistory',
  })
  expect(read(200, { code: 200, data: null }, NO_HEADER)).toEqual({ ok: undefined })
})

test('a deletion names the chat in the query, and finds that it is gone a success', () => {
  const call = present(calls?.remove?.(conversation))
  expect(call.request).toEqual({
    method: 'DELETE',
    url: `https://platform.example/api/core/chat/history/delHistory?chatId=chat+1&appId=${APP.id}`,
    headers: { authorization: 'Bearer key-of-agent' },
  })
  expect(call.older?.request.url).toBe(
    `https://platform.example/api/core/chat/delHistory?chatId=chat+1&appId=${APP.id}`,
  )
  for (const { read } of [call, present(call.older)]) {
    expect(read(200, { code: 200, data: null }, NO_HEADER)).toEqual({ ok: undefined })
    const gone = { code: 504000, statusText: 'unAuthChat', message: '' }
    expect(read(500, gone, NO_HEADER)).toEqual({ ok: undefined })
    expect(read(503, '<html>', NO_HEADER)).toMatchObject({ failure: { reason: 'agent_error' } })
  }
})

test.each([
  ['up', 'Well done', { userGoodFeedback: 'Well done' }],
  ['up', ' ', { userGoodFeedback: 'yes' }],
  ['down', undefined, { userBadFeedback: 'yes' }],
  [null, undefined, {}],
] as const)('a rating %s with the text %j is sent as FastGPT has it', (rating, text, sent) => {
  const answer = { answerId: 'd1', rating, ...(text !== undefined && { text }) }
  const { request, read } = present(calls?.rate?.(conversation, answer))
  expect(request.url).toBe('https://platform.example/api/core/chat/feedback/updateUserFeedback')
  expect(JSON.parse(textSent(request))).toEqual({ ...CHAT, dataId: 'd1', ...sent })
  expect(read(200, { code: 200, data: null }, NO_HEADER)).toEqual({ ok: undefined })
  const unknown = { code: 500, statusText: '', message: 'Chat item not found', data: null }
  expect(read(500, unknown, NO_HEADER)).toMatchObject({ failure: { reason: 'conversation_not_found' } })
})

test('an answer is stored under the id of its call, and the rest of one under that of the call that has asked', () => {
  const call = callOf(agent, { platformConversationId: 'chat 1' })
  expect(JSON.parse(textSent(fastgpt.buildRequest(call)))).toMatchObject({ responseChatItemId: call.callId })
  const state = fastgpt.start(call)
  expect(state.answerId).toBe(call.callId)
  const asked = { interactive: { type: 'userSelect', params: { description: 'Which?' } } }
  const [paused] = fastgpt.translate({ event: 'interactive', data: JSON.stringify(asked) }, state)
  if (paused?.type !== 'pause') throw new Error('there is no pause')
  const answer = { fields: {}, text: 'one', pause: paused.pause, waiting: [] }
  expect(fastgpt.start({ ...call, callId: 'another', answer }).answerId).toBe(call.callId)
})
