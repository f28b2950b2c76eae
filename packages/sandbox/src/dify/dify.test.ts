import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask, framesOf, get, normalise, post, readJson, textOf } from '../ask.test-support.ts'
import { CONTENT, lineOf, startFileServer, upload } from '../files.test-support.ts'
import { type Sandbox, type SandboxAgent, startSandbox } from '../index.ts'
import { asRecord, asText } from '../serving/narrow.ts'

let sandbox: Sandbox
let agent: SandboxAgent
beforeAll(async () => {
  sandbox = await startSandbox({ delayMs: 0 })
  agent = sandbox.agents.dify
})
afterAll(() => sandbox.close())

const keyOf = (kind: string) => agent.keys[kind] ?? ''
const streamOf = async (kind: string, query: string) =>
  (await ask.dify(agent, query, { key: keyOf(kind) })).text()
const eventsOf = (bytes: string) => framesOf(bytes).map(({ data }) => JSON.parse(data).event)

const COMMON = '"conversation_id":"UUID","message_id":"UUID","created_at":TIME,"task_id":"UUID"'
const RESOURCE =
  '{"position":1,"dataset_id":"UUID","dataset_name":"手册","document_id":"UUID","document_name":"guide.md","data_source_type":"upload_file","segment_id":"UUID","retriever_from":"api","score":0.98,"hit_count":null,"word_count":null,"segment_position":null,"index_node_hash":null,"content":"One line to every agent.\\n一条线路，连接每个智能体。","page":null,"doc_metadata":null,"title":null}'
const USAGE =
  '{"prompt_tokens":8,"prompt_unit_price":"0.001","prompt_price_unit":"0.001","prompt_price":"0.0000330","completion_tokens":3,"completion_unit_price":"0.002","completion_price_unit":"0.001","completion_price":"0.0000200","total_tokens":11,"total_price":"0.0000530","currency":"USD","latency":1.2}'

test('a chat app of Dify sends the stream of the platform, byte for byte', async () => {
  const response = await ask.dify(agent, 'sandbox:echo 你好\n🌍')
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  const message = (answer: string) =>
    `data: {"event":"message",${COMMON},"id":"UUID","answer":${JSON.stringify(answer)},"from_variable_selector":null}\n\n`
  expect(normalise(await response.text())).toBe(
    `${message('你好') + message('\n') + message('🌍')}data: {"event":"message_end",${COMMON},"id":"UUID","metadata":{"annotation_reply":null,"retriever_resources":[${RESOURCE}],"usage":${USAGE}},"files":null}\n\n`,
  )
})

test('a blocking chat of Dify is one body in ASCII', async () => {
  const response = await ask.dify(agent, 'sandbox:echo 你好🎉', { stream: false })
  const body = normalise(await response.text())
  expect(body).toMatch(
    /^\{"event": "message", "task_id": "UUID", "id": "UUID", "message_id": "UUID", "conversation_id": "UUID", "mode": "chat", "answer": "\\u4f60\\u597d\\ud83c\\udf89", "metadata": \{"annotation_reply": null, /,
  )
  expect(body).toMatch(/"latency": 1\.2\}\}, "created_at": TIME\}$/)
})

test('an agent sends its thoughts, each several times with more fields', async () => {
  const bytes = await streamOf('agent', 'sandbox:echo 杭州 ☀️')
  const frames = framesOf(bytes).map(({ data }) => JSON.parse(data))
  const thoughts = frames.filter(({ event }) => event === 'agent_thought')
  expect(
    thoughts.map(({ id, tool, observation, thought }) => [id, tool, observation !== '', thought]),
  ).toEqual([
    ['t-1', '', false, ''],
    ['t-1', 'handbook', false, ''],
    ['t-1', 'handbook', true, ''],
    ['t-2', '', false, ''],
    ['t-2', '', false, '杭州 ☀️'],
  ])
  expect(
    frames
      .filter(({ event }) => event === 'agent_message')
      .map(({ answer }) => answer)
      .join(''),
  ).toBe('杭州 ☀️')
})

test('a new agent repeats its whole answer in one message', async () => {
  const bytes = await streamOf('newAgent', 'sandbox:echo a b')
  expect(eventsOf(bytes)).toEqual(['agent_message', 'agent_message', 'message', 'message_end'])
  expect(bytes).toContain('"answer":"a b"')
})

const BEFORE = [
  'workflow_started',
  'node_started',
  'node_finished',
  'node_started',
  'message',
  'node_finished',
]

test.each([
  ['chatflow', [...BEFORE, 'workflow_finished', 'message_end']],
  ['chatflow2026', [...BEFORE.slice(0, -1), 'message_end', 'node_finished', 'workflow_finished']],
])('a %s sends its final events in the order of its year', async (kind, events) => {
  const bytes = await streamOf(kind, 'sandbox:echo x')
  expect(eventsOf(bytes)).toEqual(events)
  expect(bytes).toContain('"from_variable_selector":["llm","text"]')
  expect(normalise(bytes)).toContain(
    '"data":{"id":"UUID","workflow_id":"UUID","status":"succeeded","outputs":{"answer":"x"},"error":null,"elapsed_time":2.71,"total_tokens":9,"total_steps":2,',
  )
})

describe('workflow and completion apps', () => {
  const run = (kind: 'workflow' | 'completion', body: object, user = 'ada') =>
    post(
      agent,
      kind === 'workflow' ? '/workflows/run' : '/completion-messages',
      { inputs: { query: 'sandbox:echo 翻译 x' }, user, ...body },
      { key: keyOf(kind) },
    )

  test('a workflow streams chunks of text and no message', async () => {
    const bytes = await (await run('workflow', { response_mode: 'streaming' })).text()
    expect(eventsOf(bytes)).toEqual([
      ...['workflow_started', 'node_started', 'node_finished', 'node_started', 'text_chunk', 'text_chunk'],
      ...['node_finished', 'workflow_finished'],
    ])
    expect(normalise(bytes)).toContain(
      'data: {"event":"text_chunk","workflow_run_id":"UUID","task_id":"UUID","data":{"text":"翻译","from_variable_selector":["llm","text"]}}\n\n',
    )
  })

  test('a blocking workflow has status 200 even if it failed', async () => {
    const good = await readJson(await run('workflow', {}))
    expect(good.data).toMatchObject({ status: 'succeeded', outputs: { text: '翻译 x' }, total_tokens: 10 })
    const failed = await run('workflow', { inputs: { query: 'sandbox:node-failed' } })
    expect(failed.status).toBe(200)
    expect((await readJson(failed)).data).toMatchObject({
      status: 'failed',
      error: '[openai] Bad Request Error, 400',
    })
  })

  test('a completion has a message and no conversation', async () => {
    const bytes = await (await run('completion', { response_mode: 'streaming' })).text()
    expect(textOf('dify', bytes)).toBe('翻译 x')
    expect(bytes).not.toContain('conversation_id')
    expect((await readJson(await run('completion', {}))).answer).toBe('翻译 x')
  })

  test('the query is an input that the form requires', async () => {
    expect(await readJson(await run('completion', { inputs: {} }))).toMatchObject({
      code: 'invalid_param',
      status: 400,
    })
  })
})

test('a conversation keeps its context and belongs to one user', async () => {
  const first = await readJson(await ask.dify(agent, 'My name is Ada', { stream: false }))
  const { conversation_id } = first
  const again = await ask.dify(agent, 'What is my name?', { body: { conversation_id } })
  expect(textOf('dify', await again.text())).toContain('Your name is Ada')
  const foreign = await ask.dify(agent, 'x', { body: { conversation_id, user: 'bob' } })
  expect([foreign.status, await foreign.text()]).toEqual([
    404,
    '{"code": "not_found", "message": "Conversation Not Exists.", "status": 404}',
  ])
})

test.each([
  [
    'an empty conversation',
    { body: { conversation_id: '' } },
    400,
    'invalid_param',
    'Input should be a valid UUID',
  ],
  ['one that is no UUID', { body: { conversation_id: 'x' } }, 400, 'invalid_param', 'x is not a valid uuid.'],
  ['no user', { body: { user: '' } }, 400, 'invalid_param', 'Arg user must be provided.'],
  ['no query', { body: { query: '' } }, 400, undefined, 'Input payload validation failed'],
  ['no inputs', { body: { inputs: null } }, 400, undefined, 'Input payload validation failed'],
  ['a wrong key', { key: 'app-wrong' }, 401, 'unauthorized', 'Access token is invalid'],
  [
    'another kind of app',
    { key: 'app-sandbox-workflow' },
    400,
    'not_chat_app',
    'Please check if your app mode',
  ],
  [
    'a blocking agent',
    { key: 'app-sandbox-agent', stream: false },
    400,
    'invalid_param',
    'does not support blocking',
  ],
])('Dify rejects a question with %s', async (_, question, status, code, message) => {
  const refused = await ask.dify(agent, 'x', question)
  expect(refused.status).toBe(status)
  const body = await readJson(refused)
  expect(body.code).toBe(code)
  expect(body.message).toContain(message)
})

test.each([
  ['credentials', 401, 'unauthorized'],
  ['quota', 400, 'provider_quota_exceeded'],
  ['rate-limit', 429, 'too_many_requests'],
  ['busy', 400, 'conversation_completed'],
  ['not-found', 404, 'not_found'],
  ['app-not-found', 403, 'forbidden'],
  ['rejected', 400, 'invalid_param'],
  ['filtered', 400, 'completion_request_error'],
  ['misconfigured', 400, 'app_unavailable'],
  ['server', 500, 'internal_server_error'],
])('error=%s has the status %d and the code %s of Dify', async (kind, status, code) => {
  const refused = await ask.dify(agent, `sandbox:error=${kind}`)
  expect([refused.status, (await readJson(refused)).code]).toEqual([status, code])
})

describe('files for Dify', () => {
  const send = (file: File, user = 'ada', key = agent.apiKey) =>
    upload(agent, '/files/upload', file, { key, fields: { user } })
  const local = async (file: File, type: string) => ({
    type,
    transfer_method: 'local_file',
    upload_file_id: (await readJson(await send(file))).id,
  })
  const remote = (type: string, url: string) => ({ type, transfer_method: 'remote_url', url })
  const lookAt = (files: readonly object[], more: object = {}) =>
    ask.dify(agent, 'Look', { body: { files, ...more } })
  const problem = async (response: Response) => {
    const { code, message } = await readJson(response)
    return [response.status, code, message]
  }
  const MISMATCH = 'Detected file type does not match the specified type. Please verify the file.'

  test('are sent by URL or by upload', async () => {
    await using files = await startFileServer()
    const uploaded = await send(new File([CONTENT], '笔记.txt', { type: 'text/plain' }))
    expect(uploaded.status).toBe(201)
    const record = await readJson(uploaded)
    expect(record).toMatchObject({
      name: '笔记.txt',
      size: CONTENT.length,
      extension: 'txt',
      mime_type: 'text/plain',
    })
    const response = await lookAt([
      remote('image', `${files.origin}/y.png?a=b`),
      { type: 'document', transfer_method: 'local_file', upload_file_id: record.id },
      remote('custom', `${files.origin}/missing`),
    ])
    expect(textOf('dify', await response.text())).toContain(
      [
        'I received 3 files:',
        lineOf('y.png'),
        lineOf('笔记.txt'),
        `- ${files.origin}/missing (not readable: status 404)`,
      ].join('\n'),
    )
    expect(agent.seen.requests.find(({ path }) => path === '/v1/files/upload')?.body).toEqual({
      file: {
        filename: '笔记.txt',
        contentType: 'text/plain',
        size: CONTENT.length,
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
      user: 'ada',
    })
  })

  test('must be of the type that their extension or media type says, or of type custom', async () => {
    expect(await problem(await lookAt([remote('document', 'https://x.invalid/y.png')]))).toEqual([
      ...[400, 'invalid_param', MISMATCH],
    ])
    for (const [file, type] of [
      [new File(['a'], 'a.PNG'), 'document'],
      [new File(['a'], 'a.bin', { type: 'application/zip' }), 'document'],
      [new File(['a'], 'a.bin', { type: 'image/heic' }), 'video'],
    ] as const) {
      expect(await problem(await lookAt([await local(file, type)]))).toEqual([400, 'invalid_param', MISMATCH])
      expect((await lookAt([await local(file, 'custom')])).status).toBe(200)
    }
    const heic = new File(['a'], 'a.bin', { type: 'image/heic' })
    expect((await lookAt([await local(heic, 'image')])).status).toBe(200)
  })

  test('belong to one user of one app', async () => {
    const file = await local(new File(['a'], 'a.txt'), 'document')
    const foreign = [400, 'invalid_param', 'Invalid upload file']
    expect(await problem(await lookAt([file], { user: 'bob' }))).toEqual(foreign)
    const other = await ask.dify(agent, 'Look', { key: keyOf('chatflow'), body: { files: [file] } })
    expect(await problem(other)).toEqual(foreign)
    expect((await lookAt([file])).status).toBe(200)
  })

  test.each([
    ['an unknown id', { upload_file_id: '72fa9618-8f89-4a37-9b33-7e1178a24a67' }, 'Invalid upload file'],
    ['an id that is no UUID', { upload_file_id: 'x' }, 'Invalid upload file id format'],
    ['no id', {}, 'Invalid upload file id'],
    ['no URL', { transfer_method: 'remote_url' }, 'Invalid file url'],
  ])('with %s are rejected', async (_, fields, message) => {
    const refused = await lookAt([{ type: 'image', transfer_method: 'local_file', ...fields }])
    expect(await problem(refused)).toEqual([400, 'invalid_param', message])
  })

  test('are forgotten on request, before those of the same query are looked up', async () => {
    const file = await local(new File(['a'], 'a.txt'), 'document')
    const refused = await ask.dify(agent, 'sandbox:forget-files', { body: { files: [file] } })
    expect(await problem(refused)).toEqual([400, 'invalid_param', 'Invalid upload file'])
    expect((await lookAt([file])).status).toBe(400)
    expect((await lookAt([await local(new File(['a'], 'a.txt'), 'document')])).status).toBe(200)
  })

  test.each([
    ['a.png', 10],
    ['a.pdf', 15],
  ])('like %s have at most %d MiB', async (name, mib) => {
    const bytes = Buffer.alloc(mib * 1024 * 1024 + 1)
    expect((await send(new File([bytes.subarray(1)], name))).status).toBe(201)
    const refused = await problem(await send(new File([bytes], name)))
    expect(refused.slice(0, 2)).toEqual([413, 'file_too_large'])
  })

  test('have names without special characters, which are cut', async () => {
    for (const name of ['a:b.txt', 'a?.txt', '"a".txt']) {
      const message = 'Filename contains invalid characters'
      expect(await problem(await send(new File(['a'], name)))).toEqual([400, 'invalid_param', message])
    }
    const { name } = await readJson(await send(new File(['a'], `${'长'.repeat(201)}.txt`)))
    expect(name).toBe(`${'长'.repeat(200)}.txt`)
  })

  test('that are being read do not keep a sandbox from closing', async () => {
    await using files = await startFileServer()
    const closing = await startSandbox({ delayMs: 0 })
    const { dify } = closing.agents
    const requested = files.requested()
    const body = { files: [remote('custom', `${files.origin}/silent`)] }
    const gone = ask.dify(dify, 'sandbox:hang', { body }).catch((error: unknown) => error)
    await requested
    await closing.close()
    expect(await gone).toBeInstanceOf(Error)
    await dify.seen.waitFor(({ runs }) => runs[0]?.state === 'aborted')
  })

  test('are uploaded with a key, a user, a name and an accepted type', async () => {
    expect((await send(new File(['a'], 'a.txt'), 'ada', 'app-wrong')).status).toBe(401)
    expect(await problem(await send(new File(['a'], 'a.txt'), ''))).toEqual([
      ...[400, 'invalid_param', 'Arg user must be provided.'],
    ])
    expect((await problem(await send(new File(['a'], 'a.exe'))))[1]).toBe('unsupported_file_type')
    expect((await problem(await post(agent, '/files/upload', { user: 'ada' })))[1]).toBe('no_file_uploaded')
  })
})

test('a failed node is an error frame in 2025, a status in 2026 and an error body when blocking', async () => {
  const older = await streamOf('chatflow', 'sandbox:node-failed')
  expect(eventsOf(older).slice(-2)).toEqual(['workflow_finished', 'error'])
  expect(older).toContain('"code":"invalid_param","status":400,"message":"Run failed: ')
  const newer = await streamOf('chatflow2026', 'sandbox:node-failed')
  expect(eventsOf(newer).at(-1)).toBe('workflow_finished')
  expect(newer).toContain('"status":"failed","outputs":{},"error":"[openai] Bad Request Error, 400"')
  const blocking = { key: keyOf('chatflow'), stream: false }
  expect((await ask.dify(agent, 'sandbox:node-failed', blocking)).status).toBe(400)
})

test('an error of Dify in mid-stream has no task_id', async () => {
  const last = framesOf(await streamOf('chat', 'sandbox:error-midstream')).at(-1)
  expect(normalise(last?.data ?? '')).toBe(
    '{"event":"error","conversation_id":"UUID","message_id":"UUID","created_at":TIME,"code":"internal_server_error","message":"Internal Server Error, please contact support.","status":500}',
  )
})

test('a replacement precedes the end of a stream and is the whole text of a body', async () => {
  const bytes = await streamOf('chat', 'sandbox:replace sandbox:echo x')
  expect(eventsOf(bytes)).toEqual(['message', 'message_replace', 'message_end'])
  const body = await readJson(await ask.dify(agent, 'sandbox:replace', { stream: false }))
  expect(body.answer).toBe('抱歉，我不能回答。Sorry, I cannot answer that.')
})

test('a heartbeat of Dify is an event without data', async () => {
  const response = await ask.dify(agent, 'sandbox:pings=1')
  const { value } = await (response.body?.getReader().read() ?? {})
  expect(new TextDecoder().decode(value)).toMatch(/^event: ping\n\n/)
})

test.each([
  ['chat', 'message_end'],
  ['chatflow', 'workflow_finished,message_end'],
])('stop ends the run of a %s with %s, but only for its own user', async (kind, ending) => {
  const key = keyOf(kind)
  const response = await ask.dify(agent, 'sandbox:silence sandbox:echo a b', { key })
  const run = agent.seen.runs.at(-1)
  const stop = (user: string) => post(agent, `/chat-messages/${run?.id}/stop`, { user }, { key })
  expect(await (await stop('bob')).text()).toBe('{"result": "success"}')
  expect(run?.state).toBe('running')
  await stop('ada')
  expect(run?.state).toBe('stopped')
  const bytes = await response.text()
  expect(textOf('dify', bytes)).toBe('a')
  expect(eventsOf(bytes).join()).toMatch(new RegExp(`${ending}$`))
  expect(bytes.includes('"status":"stopped","outputs":{"answer":"a"}')).toBe(kind === 'chatflow')
  expect(agent.seen.stops.slice(-2).map(({ runId }) => runId)).toEqual([undefined, run?.id])
})

test('a run whose client disconnected before the first byte can still be stopped', async () => {
  const leaving = new AbortController()
  const known = agent.seen.runs.at(-1)
  const gone = ask.dify(agent, 'sandbox:hang', { signal: leaving.signal })
  const run = await agent.seen.waitFor(({ runs }) => runs.at(-1) !== known && runs.at(-1))
  leaving.abort()
  await expect(gone).rejects.toThrow('aborted')
  await post(agent, `/chat-messages/${run.id}/stop`, { user: 'ada' })
  expect(run.state).toBe('stopped')
})

test('the probes of Dify tell the app behind the key, its parameters and the server’s health', async () => {
  const modeOf = async (kind: string) => asText((await readJson(await get(agent, '/info', keyOf(kind)))).mode)
  expect(await Promise.all(Object.keys(agent.keys).map(modeOf))).toEqual([
    ...['chat', 'agent-chat', 'agent', 'advanced-chat', 'advanced-chat', 'completion', 'workflow'],
  ])
  expect((await get(agent, '/info', 'app-wrong')).status).toBe(401)
  expect(asRecord((await readJson(await get(agent, '/parameters'))).file_upload).enabled).toBe(true)
  expect((await fetch(new URL('/health', agent.baseUrl))).status).toBe(200)
})
