import { afterEach, expect, test, vi } from 'vitest'
import { ChatSession } from './chat-session.ts'
import { PlaygroundKey } from './playground-key.ts'
import { EMPTY_TURN, type Turn } from './turn.ts'

afterEach(() => {
  vi.useRealTimers()
})

interface Asked {
  readonly path: string
  readonly idempotencyKey: string | null
  readonly query: string | undefined
  readonly conversation: string | undefined
  readonly answer: unknown
}

/** A gateway that answers one request after the other as the test says. */
function chatWith(...answers: readonly (() => Response)[]) {
  const asked: Asked[] = []
  let kept: Turn | undefined
  const open = (apiKey: string | undefined = 'tl_key') => {
    const key = new PlaygroundKey({
      baseURL: 'http://gateway.example.com',
      agent: 'dify',
      keys: { newest: () => undefined, add: () => undefined, forget: () => undefined },
      accessToken: () => undefined,
    })
    key.paste(apiKey)
    return new ChatSession({
      baseURL: 'http://gateway.example.com',
      place: { agent: 'dify', app: '', conversationId: 'c', endUser: '' },
      key,
      // What a page that is loaded again reads of it.
      turns: kept === undefined ? [] : [{ ...kept, state: 'lost', wasAway: true }],
      keep: (turn) => {
        kept = turn
      },
      async fetch(input, init) {
        const { pathname } = new URL(String(input))
        const body = JSON.parse(typeof init?.body === 'string' ? init.body : '{}')
        const { query, chat_id: conversation, answer } = body
        asked.push({
          path: pathname.replace('/api/v1', ''),
          idempotencyKey: new Headers(init?.headers).get('idempotency-key'),
          query,
          conversation,
          answer,
        })
        const respond = answers[asked.length - 1]
        if (respond === undefined) throw new Error(`unexpected: ${pathname}`)
        return respond()
      },
    })
  }
  return { open, asked, kept: () => kept }
}

const event = (body: object, id: number) => `data: ${JSON.stringify(body)}\nid: ${id}\n\n`
const textEvent = (content: string, id: number) =>
  event({ id: 'c1', choices: [{ index: 0, delta: { role: 'assistant', content } }] }, id)
const lastEvents = (id: number) =>
  event({ id: 'c1', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }, id) +
  `data: [DONE]\nid: ${id + 1}\n\n`
const PAUSE = {
  id: 'call-1',
  question: 'Send it?',
  options: [
    { id: 'ok', title: 'Approve' },
    { id: 'no', title: 'Reject' },
  ],
  fields: [],
}
const pausing = (id: number) =>
  textEvent('Send it?', id) +
  event(
    { id: 'c1', choices: [{ index: 0, delta: { content: null }, finish_reason: 'stop' }], pause: PAUSE },
    id + 1,
  ) +
  `data: [DONE]\nid: ${id + 2}\n\n`
const stream = (text: string) => () =>
  new Response(text, { headers: { 'content-type': 'text/event-stream', 'x-call-id': 'call-1' } })
/** A stream whose connection is lost after the text. */
const cut = (text: string) => () => {
  const bytes = [new TextEncoder().encode(text)]
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = bytes.shift()
      if (next === undefined) controller.error(new TypeError('network error'))
      else controller.enqueue(next)
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream', 'x-call-id': 'call-1' } })
}
const failed = (reason: string, id: number) => event({ error: { message: reason, code: reason, reason } }, id)
const problem =
  (status: number, reason: string, more = {}) =>
  () =>
    Response.json({ code: status, msg: reason, reason, retryable: false, ...more }, { status })

const statesOf = ({ turns }: Pick<ChatSession, 'turns'>) => turns.map(({ state, text }) => ({ state, text }))

test('a question is kept with its key before it is sent, until its reply has ended', async () => {
  const chat = chatWith(() => {
    expect(chat.kept()).toMatchObject({ query: 'Hello', idempotencyKey: chat.asked[0]?.idempotencyKey })
    return stream(textEvent('Hi', 1) + lastEvents(2))()
  })
  const session = chat.open()
  await session.send('Hello', [])
  expect(statesOf(session)).toEqual([{ state: 'done', text: 'Hi' }])
  expect(chat.kept()).toBeUndefined()
})

test('a connection that is lost is made again, and the reply is whole', async () => {
  const whole = textEvent('one ', 1) + textEvent('two', 2) + lastEvents(3)
  const { open, asked } = chatWith(cut(textEvent('one ', 1)), stream(whole))
  const session = open()
  const doing = new Set<boolean>()
  session.subscribe(() => doing.add(session.turns[0]?.isReconnecting === true))
  await session.send('Hello', [])
  expect(statesOf(session)).toEqual([{ state: 'done', text: 'one two' }])
  expect([...doing]).toEqual([false, true])
  expect(asked.map(({ path }) => path)).toEqual([
    '/chat',
    `/calls/${encodeURIComponent(`key:${asked[0]?.idempotencyKey}`)}/stream`,
  ])
})

test('a page that is loaded again resumes what was unfinished, and nothing else', async () => {
  const chat = chatWith(
    () => new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } }),
    stream(textEvent('second', 1) + lastEvents(2)),
  )
  const left = chat.open()
  void left.send('Two', [])
  await expect.poll(() => chat.asked.length).toBe(1)
  const session = chat.open()
  await session.resumeUnfinished()
  await session.resumeUnfinished()
  expect(statesOf(session)).toEqual([{ state: 'done', text: 'second' }])
  expect(chat.asked.length).toBe(2)
  // How long it took is not known.
  expect(session.turns[0]?.totalMs).toBeUndefined()
})

test.each([
  ['stopped', stream(textEvent('Hi', 1) + failed('stopped', 2)), { state: 'unread', text: 'Hi' }],
  [
    'interrupted',
    stream(textEvent('Hi', 1) + failed('interrupted', 2)),
    { state: 'interrupted', text: 'Hi' },
  ],
  ['another failure', stream(textEvent('Hi', 1) + failed('agent_error', 2)), { state: 'failed', text: 'Hi' }],
  ['not found', problem(404, 'call_not_found'), { state: 'missing', text: '' }],
  ['gone', problem(410, 'reply_gone'), { state: 'gone', text: '' }],
  ['a key that is over', problem(401, 'key_expired'), { state: 'gone', text: '' }],
] as const)('a reply that is resumed ends as the gateway says: %s', async (_name, answer, expected) => {
  const { open, kept } = chatWith(
    () => new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } }),
    answer,
  )
  void open().send('Hello', [])
  await expect.poll(kept).toBeDefined()
  const session = open()
  await session.resumeUnfinished()
  expect(statesOf(session)).toEqual([expected])
  expect(kept()).toBeUndefined()
})

test('a question without an answer is sent with the same key where it is tried again', async () => {
  const lost = () => {
    throw new TypeError('network error')
  }
  // Once the question, and then nine times its stream.
  vi.useFakeTimers()
  const { open, asked } = chatWith(...Array(10).fill(lost), stream(textEvent('Hi', 1) + lastEvents(2)))
  const session = open()
  const sent = session.send('Hello', [])
  // Other modules of the worker may have timers without an end.
  await vi.advanceTimersByTimeAsync(600_000)
  await sent
  expect(statesOf(session)).toEqual([{ state: 'lost', text: '' }])
  const [turn] = session.turns
  if (turn !== undefined) await session.tryAgain(turn)
  expect(statesOf(session)).toEqual([{ state: 'done', text: 'Hi' }])
  expect([asked.at(0), asked.at(-1)]).toEqual([asked[0], asked[0]])
})

test('asking again keeps what an interrupted answer has, and takes the place of a failure', async () => {
  const { open, asked } = chatWith(
    stream(textEvent('Half', 1) + failed('interrupted', 2)),
    problem(429, 'agent_rate_limited'),
    stream(textEvent('Whole', 1) + lastEvents(2)),
  )
  const session = open()
  await session.send('Hello', [])
  const [interrupted] = session.turns
  if (interrupted !== undefined) await session.askAgain(interrupted)
  expect(statesOf(session)).toEqual([
    { state: 'interrupted', text: 'Half' },
    { state: 'failed', text: '' },
  ])
  const failure = session.turns.at(-1)
  if (failure !== undefined) await session.askAgain(failure)
  expect(statesOf(session)).toEqual([
    { state: 'interrupted', text: 'Half' },
    { state: 'done', text: 'Whole' },
  ])
  expect(new Set(asked.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(3)
})

test('a gateway that keeps no replies is asked without a key, also for the next question', async () => {
  const fields = [{ field: 'headers.Idempotency-Key', message: 'this gateway keeps no replies' }]
  const { open, asked } = chatWith(
    problem(400, 'invalid_request', { fields }),
    stream(textEvent('one', 1) + lastEvents(2)),
    stream(textEvent('two', 1) + lastEvents(2)),
  )
  const session = open()
  await session.send('Hello', [])
  await session.send('Hello', [])
  expect(statesOf(session)).toEqual([
    { state: 'done', text: 'one' },
    { state: 'done', text: 'two' },
  ])
  expect(asked.map(({ idempotencyKey }) => idempotencyKey !== null)).toEqual([true, false, false])
})

/** Asks what the agent answers with a question, and returns the session and the turn that waits. */
async function askedBack(session: ChatSession): Promise<Turn> {
  await session.send('Send my letter', [])
  const [turn = EMPTY_TURN] = session.turns
  expect(turn.pause).toEqual(PAUSE)
  return turn
}

test('an answer to a question is sent once, as data beside an empty query', async () => {
  const chat = chatWith(stream(pausing(1)), stream(textEvent('Sent.', 1) + lastEvents(2)))
  const session = chat.open()
  const turn = await askedBack(session)
  const first = session.answer(turn, { option: 'ok' }, 'Approve')
  await session.answer(turn, { option: 'no' }, 'Reject')
  await first
  expect(chat.asked.slice(1)).toEqual([
    expect.objectContaining({
      query: '',
      answer: { pause: 'call-1', option: 'ok' },
      conversation: chat.asked[0]?.conversation,
    }),
  ])
  expect(session.turns.map(({ query, text }) => [query, text])).toEqual([
    ['Send my letter', 'Send it?'],
    ['Approve', 'Sent.'],
  ])
})

test.each([
  [400, 'answer_required', false],
  [409, 'pause_over', true],
] as const)(
  'an answer that is refused with %i %s is no turn; the question says why',
  async (status, reason, isPauseOver) => {
    const chat = chatWith(
      stream(pausing(1)),
      problem(status, reason, { detail: 'why' }),
      problem(status, reason, { detail: 'why' }),
      stream(textEvent('Good.', 1) + lastEvents(2)),
    )
    const session = chat.open()
    const turn = await askedBack(session)
    await session.answer(turn, { option: 'ok' }, 'Approve')
    expect(session.turns).toMatchObject([
      { id: turn.id, isPauseOver, answerError: { reason, detail: 'why' } },
    ])
    // A text that was typed is returned to its writer.
    expect(await session.send('Perhaps', [])).toBe(false)
    expect(session.turns).toMatchObject([{ id: turn.id, isPauseOver, answerError: { reason } }])
    expect(await session.send('Well', [])).toBe(true)
    expect(session.turns).toMatchObject([{ answerError: undefined }, { query: 'Well', text: 'Good.' }])
  },
)

test('an answer that did not arrive makes room for another one', async () => {
  const chat = chatWith(
    stream(pausing(1)),
    problem(503, 'agent_overloaded'),
    stream(textEvent('Not sent.', 1) + lastEvents(2)),
  )
  const session = chat.open()
  const turn = await askedBack(session)
  await session.answer(turn, { option: 'ok' }, 'Approve')
  expect(session.turns.at(-1)).toMatchObject({ query: 'Approve', state: 'failed' })
  await session.answer(turn, { cancel: true }, '')
  expect(session.turns).toMatchObject([{ query: 'Send my letter' }, { query: '', text: 'Not sent.' }])
  expect(chat.asked.at(-1)?.answer).toEqual({ pause: 'call-1', cancel: true })
})

test('an answer that did not arrive is sent again as it was', async () => {
  const chat = chatWith(
    stream(pausing(1)),
    problem(503, 'agent_overloaded'),
    stream(textEvent('Sent.', 1) + lastEvents(2)),
  )
  const session = chat.open()
  await session.answer(await askedBack(session), { option: 'ok' }, 'Approve')
  const failure = session.turns.at(-1)
  if (failure !== undefined) await session.askAgain(failure)
  expect(chat.asked.slice(1).map(({ answer }) => answer)).toEqual(
    Array(2).fill({ pause: 'call-1', option: 'ok' }),
  )
  expect(session.turns).toHaveLength(2)
})

test('the files that the agent has made are those of the last chunk', async () => {
  const files = [{ type: 'image', url: 'https://files.example.com/chart.png', name: 'chart.png' }]
  const last = event(
    { id: 'c1', choices: [{ index: 0, delta: { content: null }, finish_reason: 'stop' }], files },
    2,
  )
  const { open } = chatWith(stream(`${textEvent('Here.', 1) + last}data: [DONE]\nid: 3\n\n`))
  const session = open()
  await session.send('Draw it', [])
  expect(session.turns[0]?.madeFiles).toEqual(files)
})
