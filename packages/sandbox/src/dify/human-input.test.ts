import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask, framesOf, get, post, readJson, textOf } from '../ask.test-support.ts'
import { CONTENT, lineOf, startFileServer, upload } from '../files.test-support.ts'
import { type Sandbox, type SandboxAgent, startSandbox } from '../index.ts'
import { asList, asRecord, asText, type JsonRecord } from '../serving/narrow.ts'

let sandbox: Sandbox
let agent: SandboxAgent
beforeAll(async () => {
  sandbox = await startSandbox({ delayMs: 0 })
  agent = sandbox.agents.dify
})
afterAll(() => sandbox.close())

type FlowKind = 'chatflow' | 'chatflow2026' | 'workflow'

const keyOf = (kind: string) => agent.keys[kind] ?? ''

/** Begins a run of an app, and reads its events up to the pause. */
async function begin(kind: FlowKind, query: string, body: JsonRecord = {}) {
  const key = keyOf(kind)
  const response =
    kind === 'workflow'
      ? await post(
          agent,
          '/workflows/run',
          { inputs: { query }, user: 'ada', response_mode: 'streaming', ...body },
          { key },
        )
      : await ask.dify(agent, query, { key, body })
  const events = eventsOf(await response.text())
  const forms = events
    .filter(({ event }) => event === 'human_input_required')
    .map(({ data }) => asRecord(data))
  const { workflow_run_id: runId, task_id: taskId, conversation_id } = events[0] ?? {}
  return {
    kind,
    events,
    forms,
    runId: asText(runId),
    taskId: asText(taskId),
    conversationId: asText(conversation_id),
    tokens: forms.map(({ form_token }) => asText(form_token)),
  }
}

type Begun = Awaited<ReturnType<typeof begin>>

const eventsOf = (bytes: string): readonly JsonRecord[] =>
  framesOf(bytes).map(({ data }) => asRecord(JSON.parse(data)))
const namesOf = (events: readonly JsonRecord[]) => events.map(({ event }) => event)
const answerOf = (events: readonly JsonRecord[]) =>
  events.map(({ answer, data }) => asText(answer) || asText(asRecord(data).text)).join('')

const listen = ({ kind, runId }: Begun, user = 'ada') =>
  get(agent, `/workflow/${runId}/events?user=${user}`, keyOf(kind))
const submit = ({ kind }: Begun, token: string | undefined, body: JsonRecord = {}) =>
  post(
    agent,
    `/form/human_input/${token}`,
    { inputs: {}, action: 'approve', user: 'ada', ...body },
    { key: keyOf(kind) },
  )

/** Answers a form as a careful client does: it listens before it submits. */
async function answer(begun: Begun, token = begun.tokens[0], body: JsonRecord = {}) {
  const rest = await listen(begun)
  expect((await submit(begun, token, body)).status).toBe(200)
  return eventsOf(await rest.text())
}

const problemOf = async (response: Response) => {
  const { code, message } = await readJson(response)
  return [response.status, code, message]
}

const KINDS = ['chatflow', 'chatflow2026', 'workflow'] as const

describe.each(KINDS)('a run of a %s', (kind) => {
  test('pauses with its form, and the stream ends without an end of the message', async () => {
    const begun = await begin(kind, 'sandbox:interactive Refund 7f3a?')
    expect(namesOf(begun.events)).toEqual([
      ...['workflow_started', 'node_started', 'node_finished', 'node_started'],
      ...['human_input_required', 'workflow_paused'],
    ])
    const [form] = begun.forms
    expect(form).toEqual({
      form_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      node_id: 'human-input-1',
      node_title: 'Approval 1',
      form_content: 'Shall I go on with “Refund 7f3a?”?',
      inputs: [],
      actions: [
        { id: 'approve', title: 'Approve', button_style: 'primary' },
        { id: 'reject', title: 'Reject', button_style: 'default' },
      ],
      display_in_ui: true,
      form_token: expect.stringMatching(/^[\w-]{22}$/),
      resolved_default_values: {},
      expiration_time: expect.any(Number),
    })
    expect(asRecord(begun.events[0]?.data).reason).toBe('initial')
    expect(asRecord(begun.events.at(-1)?.data)).toMatchObject({
      workflow_run_id: begun.runId,
      paused_nodes: ['human-input-1'],
      outputs: {},
      reasons: [{ TYPE: 'human_input_required', ...form }],
      status: 'paused',
    })
    expect(agent.seen.runs.at(-1)).toMatchObject({ id: begun.taskId, state: 'paused', answers: [] })
  })

  test('goes on with its answer, whole and as the same run', async () => {
    const query = `sandbox:interactive Refund for ${kind}?`
    const begun = await begin(kind, query)
    const rest = await answer(begun, begun.tokens[0], { action: 'reject' })
    expect(namesOf(rest).slice(0, 5)).toEqual([
      ...['workflow_started', 'node_started', 'human_input_form_filled', 'node_finished', 'node_started'],
    ])
    expect(rest[0]).toMatchObject({ task_id: begun.taskId, workflow_run_id: begun.runId })
    expect(asRecord(rest[0]?.data).reason).toBe('resumption')
    expect(rest[2]?.data).toEqual({
      node_id: 'human-input-1',
      node_title: 'Approval 1',
      rendered_content: `Shall I go on with “Refund for ${kind}?”?`,
      action_id: 'reject',
      action_text: 'Reject',
    })
    expect(answerOf(rest)).toMatch(/^You chose “Reject”\.\n\nHello from the Dify emulator/)
    expect(answerOf(rest)).toContain(`You asked: “Refund for ${kind}?”`)
    expect(namesOf(rest).slice(-3)).toEqual([
      ...[kind === 'workflow' ? 'text_chunk' : 'message_end', 'node_finished', 'workflow_finished'],
    ])
    expect(agent.seen.turns({ query })).toBe(1)
    expect(agent.seen.runs.at(-1)).toMatchObject({
      state: 'finished',
      answers: [{ action: 'reject', inputs: {} }],
    })
  })

  test('is refused in blocking mode, after it has begun', async () => {
    const query = 'sandbox:interactive sandbox:echo x'
    const body = { inputs: { query }, query, user: 'ada', response_mode: 'blocking' }
    const path = kind === 'workflow' ? '/workflows/run' : '/chat-messages'
    const refused = await post(agent, path, body, { key: keyOf(kind) })
    expect((await problemOf(refused)).slice(0, 2)).toEqual([400, 'invalid_param'])
    expect(agent.seen.runs.at(-1)).toMatchObject({ query, state: 'paused' })
  })

  test('that has ended is one event with its outputs', async () => {
    const begun = await begin(kind, 'sandbox:interactive sandbox:echo 好 x')
    expect(await (await submit(begun, begun.tokens[0])).text()).toBe('{}')
    await agent.seen.waitFor(({ runs }) =>
      runs.find(({ id, state }) => id === begun.taskId && state === 'finished'),
    )
    const bytes = await (await listen(begun)).text()
    expect(bytes).toMatch(/^data: \{"event": "workflow_finished", "task_id": "[^"]+", /)
    const [event, ...others] = eventsOf(bytes)
    expect(others).toEqual([])
    expect(event).toMatchObject({ task_id: begun.runId, workflow_run_id: begun.runId })
    const text = 'You chose “Approve”.\n\n好 x'
    expect(asRecord(event?.data)).toMatchObject({
      status: 'succeeded',
      outputs: kind === 'workflow' ? { text } : { answer: text },
    })
  })
})

test('a ping comes at once, and what was said before is lost', async () => {
  const begun = await begin(
    'chatflow',
    'sandbox:interactive sandbox:eager sandbox:slow=1 sandbox:echo one two three',
  )
  const early = await listen(begun)
  const reader = early.body?.getReader()
  const first = await reader?.read()
  expect(new TextDecoder().decode(first?.value)).toBe('event: ping\n\n')
  await submit(begun, begun.tokens[0])
  // All of the reply was written before the response to the form.
  const late = eventsOf(await (await listen(begun)).text())
  expect(namesOf(late)).toEqual(['workflow_finished'])
  const decoder = new TextDecoder()
  let heard = ''
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read())
    heard += decoder.decode(part.value, { stream: true })
  expect(textOf('dify', heard)).toBe('You chose “Approve”.\n\none two three')
})

test('a client that listens after it has answered loses the text, and reads it from the messages', async () => {
  const begun = await begin('chatflow', 'sandbox:interactive sandbox:eager sandbox:echo lost')
  await submit(begun, begun.tokens[0])
  const { data } = await readJson(
    await get(agent, `/messages?conversation_id=${begun.conversationId}&user=ada&limit=1`, keyOf('chatflow')),
  )
  expect(asList(data)).toMatchObject([{ answer: 'You chose “Approve”.\n\nlost', status: 'normal' }])
})

test.each(KINDS)('the events of a run of a %s are for its own user and app', async (kind) => {
  const begun = await begin(kind, 'sandbox:interactive x')
  const unknown = [404, 'not_found', 'Workflow run not found']
  expect(await problemOf(await listen(begun, 'bob'))).toEqual(unknown)
  expect(await problemOf(await listen({ ...begun, runId: 'x' }))).toEqual(unknown)
  const other = kind === 'workflow' ? 'chatflow' : 'workflow'
  expect(await problemOf(await listen({ ...begun, kind: other }))).toEqual(unknown)
  expect(await problemOf(await listen(begun, ''))).toEqual([
    ...[400, 'invalid_param', 'Arg user must be provided.'],
  ])
  const chat = await get(agent, `/workflow/${begun.runId}/events?user=ada`, keyOf('chat'))
  expect((await problemOf(chat)).slice(0, 2)).toEqual([400, 'not_workflow_app'])
})

test('a form is submitted once', async () => {
  const begun = await begin('chatflow', 'sandbox:interactive x')
  const [token] = begun.tokens
  const both = await Promise.all([submit(begun, token), submit(begun, token)])
  expect(both.map(({ status }) => status).sort()).toEqual([200, 412])
  const again = await problemOf(await submit(begun, token))
  expect(again.slice(0, 2)).toEqual([412, 'human_input_form_submitted'])
  expect((await get(agent, `/form/human_input/${token}`, keyOf('chatflow'))).status).toBe(412)
  expect(agent.seen.runs.at(-1)?.answers).toHaveLength(1)
})

test.each([
  ['a wrong action', { action: 'perhaps' }, 'invalid_form_data', 'Invalid action: perhaps'],
  ['no action', { action: undefined }, 'invalid_param', 'validation errors'],
  ['no inputs', { inputs: undefined }, 'invalid_param', 'validation errors'],
  ['no user', { user: '' }, 'invalid_param', 'Arg user must be provided.'],
])('a submission with %s is refused and leaves the form open', async (_, body, code, message) => {
  const begun = await begin('workflow', 'sandbox:interactive x')
  const [status, refused, text] = await problemOf(await submit(begun, begun.tokens[0], body))
  expect([status, refused]).toEqual([400, code])
  expect(text).toContain(message)
  expect(namesOf(await answer(begun)).at(-1)).toBe('workflow_finished')
})

test('a form is unknown to other apps, and under other tokens', async () => {
  const begun = await begin('chatflow', 'sandbox:interactive x')
  const unknown = [404, 'not_found', 'Form not found']
  expect(await problemOf(await submit(begun, 'x'))).toEqual(unknown)
  expect(await problemOf(await submit({ ...begun, kind: 'workflow' }, begun.tokens[0]))).toEqual(unknown)
  expect((await submit({ ...begun, kind: 'x' as FlowKind }, begun.tokens[0])).status).toBe(401)
})

describe('a form with fields', () => {
  const remote = (type: string, url: string) => ({ type, transfer_method: 'remote_url', url })

  test('has one of each type, and shows what was filled in', async () => {
    await using files = await startFileServer()
    const begun = await begin('chatflow', 'sandbox:interactive=form Refund?')
    const inputs = asList(begun.forms[0]?.inputs).map(asRecord)
    expect(inputs.map(({ type, output_variable_name }) => [type, output_variable_name])).toEqual([
      ['paragraph', 'comment'],
      ['select', 'priority'],
      ['file', 'attachment'],
      ['file-list', 'evidence'],
    ])
    expect(begun.forms[0]?.resolved_default_values).toEqual({ comment: 'Refund?' })
    const shown = await readJson(await get(agent, `/form/human_input/${begun.tokens[0]}`, keyOf('chatflow')))
    expect(shown).toEqual({
      form_content: begun.forms[0]?.form_content,
      inputs,
      resolved_default_values: { comment: 'Refund?' },
      user_actions: begun.forms[0]?.actions,
      expiration_time: begun.forms[0]?.expiration_time,
    })
    const file = new File([CONTENT], 'a.txt', { type: 'text/plain' })
    const { id } = await readJson(
      await upload(agent, '/files/upload', file, { key: keyOf('chatflow'), fields: { user: 'ada' } }),
    )
    const filled = {
      comment: 'Fine',
      priority: 'high',
      attachment: { type: 'document', transfer_method: 'local_file', upload_file_id: id },
      evidence: [remote('image', `${files.origin}/y.png`)],
    }
    const rest = await answer(begun, begun.tokens[0], { inputs: filled })
    expect(answerOf(rest)).toContain(
      [
        'You chose “Approve”.',
        'You filled in:',
        '- comment: Fine',
        '- priority: high',
        lineOf('a.txt').replace('- ', '- attachment: '),
        lineOf('y.png').replace('- ', '- evidence: '),
      ].join('\n'),
    )
    expect(agent.seen.runs.at(-1)?.answers).toEqual([{ action: 'approve', inputs: filled }])
  })

  test.each([
    ['a missing input', { evidence: undefined }, 'Missing required inputs: evidence'],
    ['an unknown option', { priority: 'urgent' }, "Invalid value for select input 'priority': urgent"],
    ['a number for an option', { priority: 1 }, "Invalid value for select input 'priority': expected string"],
    ['a text for a file', { attachment: 'x' }, "Invalid value for file input 'attachment': expected mapping"],
    [
      'a file without a type',
      { attachment: { transfer_method: 'remote_url' } },
      "Invalid value for file input 'attachment': unsupported file type",
    ],
    [
      'a file from nowhere',
      { attachment: { type: 'image' } },
      "Invalid value for file input 'attachment': unsupported transfer method",
    ],
    ['a file for a list', { evidence: {} }, "Invalid value for file list input 'evidence': expected list"],
    [
      'too many files',
      { evidence: Array.from({ length: 4 }, () => remote('image', 'https://files.example.com/y.png')) },
      "Invalid value for file list input 'evidence': exceeds number limit",
    ],
  ])('refuses %s', async (_, wrong, message) => {
    const begun = await begin('workflow', 'sandbox:interactive=form x')
    const attachment = remote('image', 'https://files.example.com/y.png')
    const inputs = { comment: '', priority: 'low', attachment, evidence: [], ...wrong }
    const refused = await submit(begun, begun.tokens[0], { inputs })
    expect(await problemOf(refused)).toEqual([400, 'invalid_form_data', message])
  })

  test('is submitted by the answer whose files are read first', async () => {
    const files = await startFileServer()
    const begun = await begin('workflow', 'sandbox:interactive=form x')
    const inputs = (url: string) => ({
      comment: '',
      priority: 'low',
      attachment: remote('image', url),
      evidence: [],
    })
    const requested = files.requested()
    const slow = submit(begun, begun.tokens[0], { inputs: inputs(`${files.origin}/silent`) })
    await requested
    const fast = await submit(begun, begun.tokens[0], { inputs: inputs('https://files.example.com/y.png') })
    expect(fast.status).toBe(200)
    await files[Symbol.asyncDispose]()
    expect((await slow).status).toBe(412)
  })

  test('may have one text and one action only', async () => {
    const begun = await begin('workflow', 'sandbox:interactive=text x')
    const inputs = { comment: '好' }
    expect(begun.forms[0]?.actions).toEqual([{ id: 'send', title: 'Send', button_style: 'primary' }])
    const rest = await answer(begun, begun.tokens[0], { action: 'send', inputs })
    expect(answerOf(rest)).toMatch(/^You chose “Send”\.\nYou filled in:\n- comment: 好\n\n/)
  })
})

test('an expired form cannot be submitted', async () => {
  const begun = await begin('chatflow', 'sandbox:interactive=expired x')
  expect(begun.forms[0]?.expiration_time).toBeLessThan(Date.now() / 1_000)
  const refused = await problemOf(await submit(begun, begun.tokens[0]))
  expect(refused.slice(0, 2)).toEqual([412, 'human_input_form_expired'])
})

test('a run may pause twice', async () => {
  const begun = await begin('chatflow', 'sandbox:interactive=twice Refund?')
  const second = await answer(begun)
  expect(namesOf(second)).toEqual([
    ...['workflow_started', 'node_started', 'human_input_form_filled', 'node_finished', 'node_started'],
    ...['human_input_required', 'workflow_paused'],
  ])
  expect(agent.seen.runs.at(-1)?.state).toBe('paused')
  const token = asText(asRecord(second.at(-2)?.data).form_token)
  expect(token).not.toBe(begun.tokens[0])
  const last = await answer(begun, token, { action: 'reject' })
  expect(answerOf(last)).toMatch(/^You chose “Approve”\.\n\nYou chose “Reject”\.\n\nHello/)
  expect(agent.seen.runs.at(-1)).toMatchObject({ state: 'finished', answers: [{}, {}] })
})

test('two forms may wait at once, in either order', async () => {
  for (const order of [
    [0, 1],
    [1, 0],
  ] as const) {
    const begun = await begin('workflow', 'sandbox:interactive=both Refund?')
    expect(namesOf(begun.events).slice(-3)).toEqual([
      ...['human_input_required', 'human_input_required', 'workflow_paused'],
    ])
    const [first, second] = order
    const middle = await answer(begun, begun.tokens[first])
    // The branch that still waits asks once more, for the same form.
    expect(namesOf(middle).slice(-2)).toEqual(['human_input_required', 'workflow_paused'])
    expect(asRecord(middle.at(-2)?.data)).toEqual(begun.forms[second])
    const last = await answer(begun, begun.tokens[second])
    expect(namesOf(last).at(-1)).toBe('workflow_finished')
  }
})

test('two forms that are submitted at once end the run', async () => {
  const begun = await begin('chatflow', 'sandbox:interactive=both Refund?')
  const answers = await Promise.all(begun.tokens.map((token) => submit(begun, token)))
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  await agent.seen.waitFor(({ runs }) =>
    runs.find(({ id, state }) => id === begun.taskId && state === 'finished'),
  )
  expect(agent.seen.runs.at(-1)?.answers).toHaveLength(2)
})

test('a form that is delivered by e-mail has no token, and an empty event nothing', async () => {
  const { forms, events } = await begin('chatflow', 'sandbox:interactive=email x')
  expect(forms).toMatchObject([{ form_token: null, form_content: 'Shall I go on with “x”?' }])
  expect(JSON.stringify(events)).toContain('"form_token":null')
  const empty = await begin('workflow', 'sandbox:interactive=empty x')
  expect(empty.events.slice(-2)).toMatchObject([
    { event: 'human_input_required', data: {} },
    { event: 'workflow_paused', data: {} },
  ])
  expect(JSON.stringify(empty.events)).not.toContain('form_')
})

test('a stop call does not reach a paused run, but ends it after its answer', async () => {
  const begun = await begin('chatflow', 'sandbox:interactive sandbox:echo x')
  const stop = (user: string) =>
    post(agent, `/chat-messages/${begun.taskId}/stop`, { user }, { key: keyOf('chatflow') })
  await stop('bob')
  expect(agent.seen.stops.at(-1)?.runId).toBeUndefined()
  expect(await (await stop('ada')).text()).toBe('{"result": "success"}')
  expect(agent.seen.stops.at(-1)?.runId).toBe(begun.taskId)
  expect(agent.seen.runs.at(-1)?.state).toBe('paused')
  const rest = await answer(begun)
  expect(answerOf(rest)).toBe('')
  const finished = rest.find(({ event }) => event === 'workflow_finished')
  expect(asRecord(finished?.data).status).toBe('stopped')
  expect(agent.seen.runs.at(-1)?.state).toBe('stopped')
})

test('a run that goes on can be stopped', async () => {
  const begun = await begin('workflow', 'sandbox:interactive sandbox:silence sandbox:echo a b')
  const rest = await listen(begun)
  await submit(begun, begun.tokens[0])
  await post(agent, `/workflows/tasks/${begun.taskId}/stop`, { user: 'ada' }, { key: keyOf('workflow') })
  const last = eventsOf(await rest.text()).at(-1)
  expect(asRecord(last?.data).status).toBe('stopped')
})

test('a new query begins a second run and leaves the form open', async () => {
  const begun = await begin('chatflow', 'My name is Ada sandbox:interactive')
  const body = { conversation_id: begun.conversationId }
  const next = await ask.dify(agent, 'What is my name?', { key: keyOf('chatflow'), body })
  expect(textOf('dify', await next.text())).toContain('Your name is Ada')
  expect(agent.seen.runs.slice(-2).map(({ state }) => state)).toEqual(['paused', 'finished'])
  expect(agent.seen.turns({ conversationId: begun.conversationId })).toBe(2)
  expect(answerOf(await answer(begun))).toContain('Pleased to meet you, Ada!')
})

test('a connection that breaks in the rest of a run does not end the run', async () => {
  for (const word of ['reset', 'truncate']) {
    const begun = await begin('chatflow', `sandbox:interactive sandbox:${word} sandbox:echo a b c`)
    const rest = await listen(begun)
    await submit(begun, begun.tokens[0])
    const read = rest.text()
    if (word === 'reset') await expect(read).rejects.toThrow()
    else expect(await read).not.toContain('message_end')
    await agent.seen.waitFor(({ runs }) => runs.at(-1)?.state === 'finished')
    const [event] = eventsOf(await (await listen(begun)).text())
    expect(asRecord(event?.data).outputs).toEqual({ answer: 'You chose “Approve”.\n\na b c' })
  }
})

test('a run that fails after its answer sends an error, and has failed for those that come later', async () => {
  const begun = await begin('workflow', 'sandbox:interactive sandbox:error-midstream sandbox:echo a b c')
  expect(namesOf(await answer(begun)).at(-1)).toBe('error')
  const [event] = eventsOf(await (await listen(begun)).text())
  expect(asRecord(event?.data)).toMatchObject({ status: 'failed', outputs: {} })
})

test.each(['chat', 'newAgent'])('an app of the kind %s says that it cannot pause', async (kind) => {
  const reply = await ask.dify({ ...agent, apiKey: keyOf(kind) }, 'sandbox:interactive sandbox:echo x')
  expect(textOf('dify', await reply.text())).toMatch(/^The Dify emulator does not know `sandbox:interactive`/)
})

describe('the messages of a conversation', () => {
  const list = (query: string, key = keyOf('chatflow')) => get(agent, `/messages?${query}`, key)

  test('are listed with their whole answers, the newest page first and each page in order', async () => {
    const begun = await begin('chatflow', 'sandbox:interactive one')
    const body = { conversation_id: begun.conversationId }
    for (const word of ['two', 'three'])
      await (await ask.dify(agent, `sandbox:echo ${word}`, { key: keyOf('chatflow'), body })).text()
    const of = `conversation_id=${begun.conversationId}&user=ada`
    const newest = await readJson(await list(`${of}&limit=2`))
    expect(newest).toMatchObject({ limit: 2, has_more: true, data: [{ answer: 'two' }, { answer: 'three' }] })
    const [two] = asList(newest.data).map(asRecord)
    const older = await readJson(await list(`${of}&first_id=${two?.id}`))
    expect(older).toMatchObject({
      limit: 20,
      has_more: false,
      data: [{ id: two?.parent_message_id, query: 'sandbox:interactive one', answer: '', status: 'paused' }],
    })
  })

  test.each([
    ['another user', 'user=bob', 404, 'not_found'],
    ['no conversation', 'user=ada&conversation_id=', 400, 'invalid_param'],
    ['a limit of 0', 'user=ada&limit=0', 400, 'invalid_param'],
    ['an unknown first message', 'user=ada&first_id=x', 404, 'not_found'],
  ])('are not listed for %s', async (_, query, status, code) => {
    const { conversationId } = await begin('chatflow', 'sandbox:interactive x')
    const named = query.includes('conversation_id') ? query : `conversation_id=${conversationId}&${query}`
    expect((await problemOf(await list(named))).slice(0, 2)).toEqual([status, code])
  })

  test('belong to apps that chat', async () => {
    const refused = await list('conversation_id=x&user=ada', keyOf('workflow'))
    expect((await problemOf(refused)).slice(0, 2)).toEqual([400, 'not_chat_app'])
  })
})
