import { expect, test } from 'vitest'
import {
  agentFor,
  callOf,
  conversationOf,
  readBy,
  textSent,
  transcriptNamed,
} from '#core/agents/transcripts.test-support.ts'
import { hiagent } from './adapter.ts'

const agent = agentFor(hiagent)
const conversation = conversationOf(agent, { platformConversationId: 'c1' })
const calls = hiagent.conversations?.(agent)
const WHO = { AppKey: 'key-of-agent', UserID: '0123456789abcdefghij' }
const NO_HEADER = () => undefined

function present<Call>(call: Call | undefined): Call {
  if (call === undefined) throw new Error('there is no such call')
  return call
}

function turn(n: number, time = n): object {
  const AnswerInfo = { Answer: `a${n}`, MessageID: `m${n}`, CreatedTime: time }
  return { QueryID: `q${n}`, Query: `b${n}`, AnswerInfo }
}

/** The ids of the real platform, which are in the order of time. */
function withUlid(turn: object): object {
  const { AnswerInfo, ...rest } = turn as { readonly AnswerInfo: { readonly MessageID: string } }
  return {
    ...rest,
    AnswerInfo: { ...AnswerInfo, MessageID: AnswerInfo.MessageID.replace('m', `${'0'.repeat(25)}`) },
  }
}

test('the turns are read with their files and ratings, also from a body with a stray null', () => {
  const call = present(calls?.history?.(conversation, { limit: 20 }))
  expect(call.request).toMatchObject({
    method: 'POST',
    url: 'https://platform.example/api/proxy/api/v1/get_conversation_messages',
    headers: { apikey: 'key-of-agent' },
  })
  expect(JSON.parse(textSent(call.request))).toEqual({ ...WHO, AppConversationID: 'c1', Limit: 11 })
  expect(readBy(call, transcriptNamed('hiagent/conversation-messages.txt'))).toEqual({
    ok: {
      items: [
        { id: 'ctbcla1pgge5cea2drig', role: 'user', text: '北京天气', files: [] },
        {
          id: '01JENGF8YABMJBFG5YV1RB1J27',
          role: 'assistant',
          text: '晴，5℃到15℃。',
          files: [],
          createdAt: new Date('2024-12-09T10:47:05Z'),
          answerId: '01JENGF8YABMJBFG5YV1RB1J27',
          rating: 'up',
        },
        {
          id: 'ctbcla1pgge5cea2drj0',
          role: 'user',
          text: '看看图片',
          files: [{ url: 'https://x/y.png', name: 'y.png' }],
        },
        {
          id: '01JENGF9ZZBMJBFG5YV1RB1J28',
          role: 'assistant',
          text: '一只猫。',
          files: [],
          createdAt: new Date('2024-12-09T10:48:45Z'),
          answerId: '01JENGF9ZZBMJBFG5YV1RB1J28',
        },
      ],
    },
  })
})

test.each([
  ['the oldest', [turn(1), turn(2), turn(3)]],
  ['the newest', [turn(3), turn(2), turn(1)]],
  ['the oldest of one second', [turn(1, 9), turn(2, 9), turn(3, 9)]],
  ['the newest of one second', [turn(3, 9), turn(2, 9), turn(1, 9)].map(withUlid)],
])('pages are cut out of a list that begins with %s', (_name, Messages) => {
  const pageAt = (before?: string) => {
    const call = present(
      calls?.history?.(conversation, { limit: 2, ...(before !== undefined && { before }) }),
    )
    const read = call.read(200, { Messages }, NO_HEADER)
    const page = 'ok' in read ? read.ok : { items: [] }
    return [page.items.map(({ text }) => text).join(' '), page.before]
  }
  const [texts, next] = pageAt()
  expect(texts).toBe('b3 a3')
  const [earlier, last] = pageAt(next)
  expect(earlier).toBe('b2 a2')
  expect(pageAt(last)).toEqual(['b1 a1', undefined])
  expect(pageAt('gone')).toEqual(['', undefined])
})

test('a conversation without messages has an empty page', () => {
  const { read } = present(calls?.history?.(conversation, { limit: 2 }))
  expect(read(200, { Messages: null, BaseResp: null }, NO_HEADER)).toEqual({ ok: { items: [] } })
})

const LOST = { ResponseMetadata: { Error: { Code: 'ConversationNotFound', Message: 'gone' } } }

test.each([
  [200, LOST, 'conversation_not_found'],
  [401, { ResponseMetadata: { Error: { Code: 'AuthFailed', Message: '' } } }, 'agent_credentials'],
  [200, { Messages: 7 }, 'agent_malformed'],
  [200, 'text', 'agent_malformed'],
])('a reply %i %j is a failure', (status, body, reason) => {
  const { read } = present(calls?.history?.(conversation, { limit: 2 }))
  expect(read(status, body, NO_HEADER)).toMatchObject({ failure: { reason } })
})

test('names, deletions and ratings are sent as HiAgent has them, and confirmed by an empty object', () => {
  const rate = (rating: 'up' | 'down' | null, text?: string) =>
    present(calls?.rate?.(conversation, { answerId: 'm1', rating, ...(text !== undefined && { text }) }))
  const sent = [
    present(calls?.rename?.(conversation, 'Trips')),
    present(calls?.remove?.(conversation)),
    rate('up'),
    rate('down', 'No'),
    rate(null),
  ].map(({ request, read }) => {
    expect(read(200, {}, NO_HEADER)).toEqual({ ok: undefined })
    const { AppKey, UserID, ...fields } = JSON.parse(textSent(request))
    expect({ AppKey, UserID }).toEqual(WHO)
    return [request.url.split('/').at(-1), fields]
  })
  expect(sent).toEqual([
    ['update_conversation', { AppConversationID: 'c1', ConversationName: 'Trips' }],
    ['delete_conversation', { AppConversationID: 'c1' }],
    ['feedback', { MessageID: 'm1', LikeType: 1 }],
    [
      'feedback',
      { MessageID: 'm1', LikeType: -1, FeedbackInfo: { ProblemCategories: [], ProblemDetail: 'No' } },
    ],
    ['feedback', { MessageID: 'm1', LikeType: 0 }],
  ])
})

test('a conversation that is gone is deleted, and one that is renamed is not', () => {
  const gone = present(calls?.remove?.(conversation)).read(200, LOST, NO_HEADER)
  expect(gone).toEqual({ ok: undefined })
  expect(present(calls?.rename?.(conversation, 'a')).read(200, LOST, NO_HEADER)).toMatchObject({
    failure: { reason: 'conversation_not_found' },
  })
})

test('the answer has the id of its message', () => {
  const state = hiagent.start(callOf(agent))
  const frame = { event: 'message', task_id: 't1', id: 'm1', answer: 'a' }
  hiagent.translate({ event: 'text', data: JSON.stringify(frame) }, state)
  expect(state).toMatchObject({ runId: 't1', messageId: 'm1', answerId: 'm1' })
})
