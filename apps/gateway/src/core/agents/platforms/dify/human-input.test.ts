import { describe, expect, test } from 'vitest'
import type { AgentCall, UpstreamEvent } from '#core/agents/adapter.ts'
import type { ChatEvent } from '#core/agents/events.ts'
import type { Pause, PauseAnswer } from '#core/agents/pause.ts'
import { agentFor, callOf, read, textSent, transcriptNamed } from '#core/agents/transcripts.test-support.ts'
import { dify } from './adapter.ts'

const noHeader = () => undefined

const asked = () => read(dify, callOf(agentFor(dify, {})), transcriptNamed('dify/human-input-stream.txt'))
const pauseIn = (events: readonly ChatEvent[]): Pause => {
  const found = events.find((event) => event.type === 'pause')
  if (found === undefined) throw new Error('the reply does not pause')
  return found.pause
}
const answering = (more: Partial<PauseAnswer> = {}): { call: AgentCall; answer: PauseAnswer } => {
  const pause = pauseIn(asked())
  const answer = { option: 'approve', fields: { comment: 'fine' }, text: '', pause, waiting: [], ...more }
  return { call: callOf(agentFor(dify, {}), { answer }), answer }
}

function restOf(frames: readonly object[], more: Partial<PauseAnswer> = {}): readonly ChatEvent[] {
  const state = dify.start(answering(more).call as never)
  const events = frames.map((frame): UpstreamEvent => ({ event: undefined, data: JSON.stringify(frame) }))
  return [...events.flatMap((event) => dify.translate(event, state)), ...dify.finish(state)]
}
const textOf = (events: readonly ChatEvent[]) =>
  events.map((event) => (event.type === 'text' ? event.text : '')).join('')

test('a form is a pause with its actions, its fields and its end, and its token is for the answer alone', () => {
  const events = asked()
  expect(pauseIn(events)).toEqual({
    question: 'Send [comment]?',
    options: [
      { id: 'approve', title: 'Approve' },
      { id: 'reject', title: 'Reject' },
    ],
    fields: [{ name: 'comment', type: 'paragraph', required: false, default: 'ok' }],
    expiresAt: '2026-02-26T18:13:20.000Z',
    takesText: false,
    resume: { token: 'secret-token', workflowRunId: 'r1', taskId: 't1' },
  })
  const details = events.flatMap((event) => (event.type === 'detail' ? [event.detail()] : []))
  expect(JSON.stringify(details)).not.toContain('secret-token')
})

test('a form without a token, which was delivered by e-mail, is shown and cannot be answered', () => {
  const frames = [
    {
      event: 'human_input_required',
      data: { form_content: 'Sure?', form_token: null, actions: [{ id: 'a' }] },
    },
  ]
  const state = dify.start(callOf(agentFor(dify, {})))
  const events = frames.flatMap((frame) =>
    dify.translate({ event: undefined, data: JSON.stringify(frame) }, state),
  )
  expect(pauseIn(events)).toMatchObject({
    question: 'Sure?',
    options: [],
    unanswerable: expect.stringContaining('sent'),
  })
})

function eventsIn(answer: object | undefined): readonly ChatEvent[] {
  return answer !== undefined && 'ok' in answer && Array.isArray(answer.ok) ? answer.ok : []
}

describe('an answer', () => {
  test('listens to the rest of the run, as the user of the run', () => {
    const { call } = answering()
    const { method, url, headers } = dify.buildRequest(call as never)
    expect([method, new URL(url).pathname, new URL(url).search]).toEqual([
      ...['GET', '/v1/workflow/r1/events', '?user=0123456789abcdefghij'],
    ])
    expect(headers).toMatchObject({ authorization: expect.stringMatching(/^Bearer /) })
  })

  test('fills in the form, with files as Dify describes them', () => {
    const { call, answer } = answering()
    const fields = [
      ...answer.pause.fields,
      { name: 'photo', type: 'file', required: true } as const,
      { name: 'more', type: 'file-list', required: true } as const,
    ]
    const url = 'https://files.example.com/a.png'
    const given = {
      ...answer,
      pause: { ...answer.pause, fields },
      fields: { comment: 'fine', photo: url, more: [url] },
    }
    const { request } = dify.submitAnswer?.(call as never, given) ?? {}
    const file = { type: 'image', transfer_method: 'remote_url', url }
    expect(request?.url).toMatch(/\/v1\/form\/human_input\/secret-token$/)
    expect(JSON.parse(textSent(request as never))).toEqual({
      inputs: { comment: 'fine', photo: file, more: [file] },
      action: 'approve',
      user: '0123456789abcdefghij',
    })
  })

  test('leaves texts empty that a button alone has not filled in, and keeps what the form proposes', () => {
    const { call, answer } = answering()
    const fields = [
      { name: 'comment', type: 'paragraph', required: false } as const,
      { name: 'kind', type: 'select', required: false, options: ['a', 'b'], default: 'b' } as const,
      { name: 'count', type: 'number', required: false } as const,
    ]
    const given = { ...answer, pause: { ...answer.pause, fields }, fields: {} }
    const { request } = dify.submitAnswer?.(call as never, given) ?? {}
    expect(JSON.parse(textSent(request as never)).inputs).toEqual({ comment: '', kind: 'b' })
  })

  test.each([
    [200, { ok: undefined }],
    [400, { failure: { reason: 'agent_rejected_input', turn: 'none' } }],
    [401, { failure: { reason: 'agent_credentials', turn: 'none' } }],
    [404, { failure: { reason: 'pause_over', turn: 'none' } }],
    [412, { failure: { reason: 'pause_over', turn: 'none' } }],
    [503, { failure: { reason: 'agent_error' } }],
  ])('to which Dify says %i', (status, expected) => {
    const { call, answer } = answering()
    const code = { 400: 'invalid_param', 401: 'unauthorized', 404: 'not_found' }[status as 400] ?? 'other'
    const result = dify
      .submitAnswer?.(call as never, answer)
      .read(status, status < 300 ? {} : { code, message: 'No.', status }, noHeader)
    expect(result).toMatchObject(expected)
    if (status === 503) expect(result).not.toHaveProperty('failure.turn')
  })

  const LIVE = [
    { event: 'workflow_started', task_id: 't1', data: { reason: 'resumption' } },
    { event: 'message', answer: 'Sent.' },
    { event: 'message_end', metadata: {} },
    { event: 'workflow_finished', data: { status: 'succeeded', outputs: {} } },
  ]
  const BEFORE = [
    { event: 'workflow_started', task_id: 't1', data: { reason: 'initial' } },
    { event: 'message', answer: 'One moment.' },
    { event: 'human_input_required', data: { form_content: 'First?', form_token: 'another' } },
    { event: 'workflow_paused', data: {} },
    { event: 'workflow_started', task_id: 't1', data: { reason: 'resumption' } },
    { event: 'human_input_required', data: { form_content: 'Send?', form_token: 'secret-token' } },
    { event: 'workflow_paused', data: {} },
  ]

  test('is followed by what comes after the pause, also where a stream repeats what came before', () => {
    expect(textOf(restOf(LIVE))).toBe('Sent.')
    expect(textOf(restOf([...BEFORE, ...LIVE]))).toBe('Sent.')
    expect(restOf([...BEFORE, ...LIVE]).filter(({ type }) => type === 'pause')).toEqual([])
  })

  test('leaves the other forms of the run waiting, which are asked next', () => {
    const other: Pause = { question: 'And now?', options: [], fields: [], takesText: false }
    const events = restOf([{ event: 'workflow_paused', data: {} }], { waiting: [other] })
    expect(events).toEqual([
      { type: 'pause', pause: other },
      { type: 'end', reason: 'stop' },
    ])
  })

  test('to a run that has ended meanwhile is what the conversation has as its latest message', () => {
    const { call } = answering()
    const state = dify.start(call as never)
    const ended = {
      event: 'workflow_finished',
      conversation_id: 'c1',
      data: { status: 'succeeded', outputs: {} },
    }
    dify.translate({ event: undefined, data: JSON.stringify(ended) }, state)
    const helper = dify.conclude?.(call as never, state)
    expect(helper?.request.url).toContain('/v1/messages?conversation_id=c1&user=0123456789abcdefghij&limit=1')
    const body = { data: [{ answer: 'One moment.' }, { answer: 'Sent.' }] }
    expect(helper?.read(200, body, noHeader)).toEqual({
      ok: [
        { type: 'text', text: 'Sent.' },
        { type: 'end', reason: 'stop' },
      ],
    })
  })

  test('to a run that repeats itself up to its pause and then says nothing is the result of the run', () => {
    const { call } = answering()
    const state = dify.start(call as never)
    const frames = BEFORE.map((frame) => ({ ...frame, conversation_id: 'c1', workflow_run_id: 'r1' }))
    for (const frame of frames) dify.translate({ event: undefined, data: JSON.stringify(frame) }, state)
    const ask = (body: object) => dify.conclude?.(call as never, state)?.read(200, body, noHeader)
    expect(dify.conclude?.(call as never, state)?.request.url).toContain('/v1/workflows/run/r1')
    expect([ask({ status: 'paused' }), ask({ status: 'running' })]).toEqual([
      { ok: 'working' },
      { ok: 'working' },
    ])
    expect(textOf(eventsIn(ask({ status: 'succeeded', outputs: { answer: 'Sent.' } })))).toBe('Sent.')
  })

  test('to a run that goes on waiting is cut', () => {
    const { call } = answering()
    const state = dify.start(call as never)
    const ask = () => dify.conclude?.(call as never, state)?.read(200, { status: 'paused' }, noHeader)
    const answers = Array.from({ length: 5 }, ask)
    expect(answers.map((each) => each !== undefined && 'ok' in each && each.ok)).toEqual([
      ...Array.from({ length: 4 }, () => 'working'),
      [],
    ])
  })

  test('whose text has come needs no further request', () => {
    const { call } = answering()
    const state = dify.start(call as never)
    for (const frame of LIVE) dify.translate({ event: undefined, data: JSON.stringify(frame) }, state)
    expect(dify.conclude?.(call as never, state)).toBeUndefined()
  })
})
