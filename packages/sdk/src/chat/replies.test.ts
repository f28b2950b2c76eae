import { describe, expect, test, vi } from 'vitest'
import { ChatClient } from '../chat-client.ts'
import { withGraphQL } from '../graphql.ts'
import {
  BadRequestError,
  ConflictError,
  type Conversation,
  type Fetch,
  InvalidResponseError,
  readChatStream,
  StreamFailedError,
  Trunkline,
  TrunklineError,
} from '../index.ts'
import type { ChatStreamSource } from './read-chat-stream.ts'

const HEAD = { 'content-type': 'text/event-stream', 'x-request-id': 'r1', 'x-call-id': 'c1' }
const REPLY = {
  id: 'talk-1',
  object: 'chat.completion',
  created: 1,
  model: 'dify',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
}
const chunk = (content: string | null, finish_reason: string | null = null) => ({
  id: 'talk-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'dify',
  choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason }],
})
const events = (...chunks: unknown[]) =>
  `${chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')}data: [DONE]\n\n`
const WHOLE = events(chunk('Hel'), chunk('lo'), chunk(null, 'stop'))

function clientOf(...answers: (() => Response)[]) {
  const bodies: Record<string, unknown>[] = []
  const fetch = vi.fn(async (_url: unknown, init?: RequestInit) => {
    bodies.push(JSON.parse(String(init?.body)))
    const answer = answers.length > 1 ? answers.shift() : answers[0]
    return answer?.() ?? Response.error()
  })
  return {
    client: new Trunkline({ baseURL: 'http://gateway.test', apiKey: 'tl_any', fetch, maxRetries: 0 }),
    bodies,
    fetch,
  }
}
const streaming = (text: string) => () => new Response(text, { headers: HEAD })
const json = () => Response.json(REPLY, { headers: HEAD })

describe('a reply', () => {
  test('has its text and its ids, which JSON and copies leave out', async () => {
    const created = await clientOf(json).client.chat.create({ query: 'Hi' })
    const final = await clientOf(streaming(WHOLE)).client.chat.stream({ query: 'Hi' }).final()
    for (const reply of [created, final]) {
      const { text, conversationId, callId, requestId } = reply
      expect([text, conversationId, callId, requestId]).toEqual(['Hello', 'talk-1', 'c1', 'r1'])
      expect(JSON.parse(JSON.stringify(reply))).toEqual(REPLY)
      expect({ ...reply }).toEqual(REPLY)
    }
    expect(final).toStrictEqual(created)
  })

  test('of another server that has no choices has no text', async () => {
    const reply = await clientOf(() => Response.json({})).client.chat.create({ query: 'Hi' })
    expect([reply.text, reply.callId]).toEqual(['', undefined])
  })
})

const PAUSE = { id: 'call-1', question: 'Sure?', options: [{ id: 'yes', title: 'Yes' }], fields: [] }
const PAUSED = { ...REPLY, pause: PAUSE }
const paused = () => Response.json(PAUSED, { headers: HEAD })
const PAUSED_STREAM = events(chunk('Hel'), chunk('lo'), { ...chunk(null, 'stop'), pause: PAUSE })

describe('a pause', () => {
  test('is in the reply, and in that of a stream', async () => {
    const created = await clientOf(paused).client.chat.create({ query: 'Hi' })
    const stream = clientOf(streaming(PAUSED_STREAM)).client.chat.stream({ query: 'Hi' })
    expect(stream.pause).toBeUndefined()
    expect(await stream.final()).toStrictEqual(created)
    expect([created.pause, stream.pause]).toEqual([PAUSE, PAUSE])
  })

  test('is in the last chunk for those who read the stream alone', async () => {
    const pauses: unknown[] = []
    const response = new Response(PAUSED_STREAM, { headers: HEAD })
    for await (const { pause } of readChatStream(response)) pauses.push(pause)
    expect(pauses).toEqual([undefined, undefined, PAUSE])
  })
})

test('the files that the agent has made are in the reply, and in that of a stream', async () => {
  const files = [{ type: 'image', url: 'https://files.test/1.png', name: '1.png' }]
  const answer = () => Response.json({ ...REPLY, files }, { headers: HEAD })
  const created = await clientOf(answer).client.chat.create({ query: 'Hi' })
  const streamed = events(chunk('Hel'), chunk('lo'), { ...chunk(null, 'stop'), files })
  expect(await clientOf(streaming(streamed)).client.chat.stream({ query: 'Hi' }).final()).toStrictEqual(
    created,
  )
  expect(created.files).toEqual(files)
})

describe('the pause of a conversation', () => {
  const over = (status: number, reason: string) => () =>
    Response.json({ code: status, msg: 'No', detail: 'No.', reason }, { status })

  test.each([
    ['a reply', paused, (talk: Conversation) => talk.create('Hi')],
    ['a stream', streaming(PAUSED_STREAM), (talk: Conversation) => talk.stream('Hi').text()],
  ])('that %s has is answered by its id, and is over then', async (_, first, ask) => {
    const { client, bodies } = clientOf(first, json)
    const talk = client.chat.conversation()
    await ask(talk)
    expect(talk.pause).toEqual(PAUSE)
    expect((await talk.answer({ option: 'yes' })).text).toBe('Hello')
    expect(bodies[1]).toMatchObject({
      query: '',
      conversation_id: 'talk-1',
      answer: { pause: 'call-1', option: 'yes' },
    })
    expect(talk.pause).toBeUndefined()
  })

  test('is answered by a text, by fields, and given up for another message, also as streams', async () => {
    const { client, bodies } = clientOf(paused, streaming(PAUSED_STREAM), streaming(PAUSED_STREAM), json)
    const talk = client.chat.conversation()
    await talk.create('Hi')
    await talk.answerStream('Yes').text()
    await talk.answerStream({ fields: { comment: 'Fine.' } }).text()
    await talk.answer({ cancel: true, query: 'Something else' })
    expect(bodies.slice(1)).toMatchObject([
      { query: 'Yes', answer: { pause: 'call-1' } },
      { query: '', answer: { pause: 'call-1', fields: { comment: 'Fine.' } } },
      { query: 'Something else', answer: { pause: 'call-1', cancel: true } },
    ])
    expect(bodies[3]?.answer).not.toHaveProperty('query')
  })

  test('stays open after an answer that it does not take, and is over where the gateway says so', async () => {
    const { client } = clientOf(paused, over(400, 'answer_required'), over(409, 'pause_over'))
    const talk = client.chat.conversation()
    await talk.create('Hi')
    await expect(talk.answer('What?')).rejects.toBeInstanceOf(BadRequestError)
    expect(talk.pause).toEqual(PAUSE)
    await expect(talk.answer('Yes')).rejects.toMatchObject({
      constructor: ConflictError,
      reason: 'pause_over',
    })
    expect(talk.pause).toBeUndefined()
  })

  test('is missed before anything is sent', async () => {
    const { client, fetch } = clientOf(json)
    const talk = client.chat.conversation()
    await expect(talk.answer({ option: 'yes' })).rejects.toThrow('No pause is open.')
    expect(() => talk.answerStream('Yes')).toThrow('No pause is open.')
    expect(fetch).not.toHaveBeenCalled()
  })
})

describe('textStream', () => {
  test('has the pieces of the text, and the stream can be waited for as well', async () => {
    const stream = clientOf(streaming(WHOLE)).client.chat.stream({ query: 'Hi' })
    const final = stream.final()
    const pieces: string[] = []
    for await (const text of stream.textStream) pieces.push(text)
    expect(pieces).toEqual(['Hel', 'lo'])
    expect((await final).text).toBe('Hello')
  })

  test('cancels the request where it is left', async () => {
    const cancelled = vi.fn()
    const body = () => {
      const first = new TextEncoder().encode(`data: ${JSON.stringify(chunk('Hel'))}\n\n`)
      return new ReadableStream({ start: (controller) => controller.enqueue(first), cancel: cancelled })
    }
    const { client } = clientOf(() => new Response(body(), { headers: HEAD }))
    for await (const text of client.chat.stream({ query: 'Hi' }).textStream) {
      expect(text).toBe('Hel')
      break
    }
    expect(cancelled).toHaveBeenCalledOnce()
  })
})

describe('await using', () => {
  const endless = (cancelled: () => void) => () =>
    new Response(
      new ReadableStream({
        start: (controller) =>
          controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(chunk('Hel'))}\n\n`)),
        cancel: cancelled,
      }),
      { headers: HEAD },
    )

  test('cancels what was not read to its end', async () => {
    const cancelled = vi.fn()
    const { client } = clientOf(endless(cancelled))
    {
      await using stream = client.chat.stream({ query: 'Hi' })
      expect((await stream.textStream.next()).value).toBe('Hel')
    }
    expect(cancelled).toHaveBeenCalled()
  })

  test('does nothing to a stream that was never begun, nor to one that has ended', async () => {
    const { client, fetch } = clientOf(streaming(WHOLE))
    {
      await using _never = client.chat.stream({ query: 'Hi' })
      await using ended = client.chat.stream({ query: 'Hi' })
      expect(await ended.text()).toBe('Hello')
    }
    expect(fetch).toHaveBeenCalledOnce()
  })
})

describe('a conversation with an agent that wants an id of the caller', () => {
  const refusal = () =>
    Response.json(
      { code: 400, msg: 'Bad Request', detail: 'No id.', reason: 'conversation_id_required' },
      { status: 400 },
    )

  test('makes its own, after a refusal that costs nothing, and keeps it', async () => {
    const { client, bodies } = clientOf(refusal, json)
    const talk = client.chat.conversation({ agent: 'hiagent' })
    await talk.create('Hi')
    await talk.create('Again')
    const ids = bodies.map(({ conversation_id }) => conversation_id)
    expect(ids).toEqual(['', talk.id, talk.id])
    expect(talk.id).toMatch(/^\d+(-\d+){3}$/)
  })

  test('streams as well', async () => {
    const { client, bodies } = clientOf(refusal, streaming(WHOLE))
    const talk = client.chat.conversation({ agent: 'hiagent' })
    expect(await talk.stream('Hi').text()).toBe('Hello')
    expect(bodies.map(({ conversation_id }) => conversation_id)).toEqual(['', talk.id])
  })

  test('gives two first messages the same id', async () => {
    const { client, bodies } = clientOf(refusal, refusal, json)
    const talk = client.chat.conversation({ agent: 'hiagent' })
    await Promise.all([talk.create('Hi'), talk.create('Hi')])
    expect(bodies.slice(2).map(({ conversation_id }) => conversation_id)).toEqual([talk.id, talk.id])
  })

  test('ends with the refusal where an id does not help, and without a conversation', async () => {
    const { client, fetch } = clientOf(refusal)
    await expect(client.chat.conversation().create('Hi')).rejects.toThrow('conversation_id_required')
    expect(fetch).toHaveBeenCalledTimes(2)
    await expect(client.chat.create({ query: 'Hi' })).rejects.toThrow('conversation_id_required')
    expect(fetch).toHaveBeenCalledTimes(3)
  })
})

describe('chunks of another server', () => {
  test.each([
    ['null', null],
    ['a number', 5],
    ['a text', 'text'],
    ['a list', []],
    ['no choices', { choices: null }],
    ['an empty list of choices', { choices: [] }],
    ['a choice that is null', { choices: [null] }],
    ['a delta that is null', { choices: [{ delta: null }] }],
    ['a detail that is null', { choices: [], detail: null }],
    ['a detail that is a text', { choices: [], detail: 'x' }],
    ['choices that are no list', { choices: {} }],
    ['choices that are a text', { choices: 'x' }],
    ['an id that is a number', { id: 5, choices: [] }],
  ])('%s is passed on and holds nothing up', async (_, odd) => {
    const { client } = clientOf(streaming(events(odd, chunk('Hello', 'stop'))))
    const stream = client.chat.stream({ query: 'Hi', detail: true }).on('error', () => undefined)
    expect((await stream.final()).text).toBe('Hello')
  })

  test.each([
    ['a replacement without a text', { choices: [], detail: { type: 'replaced' } }],
    ['a content that is a number', { choices: [{ delta: { content: 5 } }] }],
    ['a content that is a list', { choices: [{ delta: { content: [{ text: 'x' }] } }] }],
  ])('%s is an error of the SDK', async (_, odd) => {
    const { client } = clientOf(streaming(events(odd, chunk('Hello', 'stop'))))
    await expect(client.chat.stream({ query: 'Hi' }).text()).rejects.toThrow(InvalidResponseError)
  })
})

test.each([
  ['nothing', undefined],
  ['null', null],
  ['a text', 'data: {}'],
  ['an object', {}],
  ['a promise', Promise.resolve(new Response(WHOLE))],
])('%s is no source of a stream', async (_, source) => {
  const reader = readChatStream(source as unknown as ChatStreamSource)
  await expect(reader.next()).rejects.toThrow(TrunklineError)
  await expect(reader.next()).resolves.toEqual({ done: true, value: undefined })
})

describe.each([
  ['no body', {}],
  ['a body that is null', { body: null }],
  ['a body that cannot be read', { body: {} }],
])('a runtime whose responses have %s', (_, more) => {
  /** As React Native answers, whose responses can be read only whole. */
  const fetchOf = (response: Response): Fetch => {
    const { ok, status, headers } = response
    return async () => ({ ok, status, headers, text: () => response.text(), ...more })
  }
  const optionsOf = (response: Response) => {
    return { baseURL: 'http://gateway.test', apiKey: 'tl_any', fetch: fetchOf(response) }
  }

  test('is told what it lacks by each kind of stream', async () => {
    const options = optionsOf(new Response(WHOLE, { headers: HEAD }))
    const client = new Trunkline(options)
    // One after the other: a rejection that nothing waits for yet is an unhandled one.
    for (const read of [
      () => client.chat.stream({ query: 'Hi' }).text(),
      () => client.chat.stream({ query: 'Hi', keep: true }).text(),
      () => client.chat.conversation().stream('Hi').text(),
      () => new ChatClient(options).chat.stream({ query: 'Hi' }).text(),
      () => withGraphQL(client).subscribe('subscription { chat { text } }').next(),
    ]) {
      const error: unknown = await read().catch((failure: unknown) => failure)
      expect(error).toBeInstanceOf(InvalidResponseError)
      expect(error).toMatchObject({ status: 200, requestId: 'r1' })
      expect(error).toHaveProperty('message', expect.stringMatching(/has no stream.*expo\/fetch/))
    }
  })

  test('chats without streams', async () => {
    expect((await new Trunkline(optionsOf(json())).chat.create({ query: 'Hi' })).text).toBe('Hello')
    expect((await new ChatClient(optionsOf(json())).chat.create({ query: 'Hi' })).text).toBe('Hello')
  })
})

test('a body that something else has read is no source either', async () => {
  const response = new Response(WHOLE, { headers: HEAD })
  await response.text()
  await expect(readChatStream(response).next()).rejects.toThrow('another reader')
})

test.each([
  [
    { message: 'Slow down.', type: 'rate_limit_error', code: 429 },
    '429: Slow down.',
    '429',
    429,
    'rate_limit_error',
  ],
  [
    { message: 'No.', type: 'server_error', code: 'agent_error' },
    'agent_error: No.',
    'agent_error',
    'agent_error',
    'server_error',
  ],
  [{ message: 'No.' }, 'No.', undefined, undefined, undefined],
  ['No.', 'No.', undefined, undefined, undefined],
])('a failed stream keeps what the event says: %j', async (error, message, reason, code, type) => {
  const reading = readChatStream(new Response(events({ error }), { headers: HEAD })).next()
  const thrown = await reading.catch((failure: unknown) => failure)
  expect(thrown).toBeInstanceOf(StreamFailedError)
  expect(thrown).toMatchObject({ message, reason, code, type, requestId: 'r1' })
})
