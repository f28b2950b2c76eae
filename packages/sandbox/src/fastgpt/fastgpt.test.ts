import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask, framesOf, get, post, readJson, textOf } from '../ask.test-support.ts'
import { dataUrl, lineOf, startFileServer } from '../files.test-support.ts'
import { type Sandbox, type SandboxAgent, startSandbox } from '../index.ts'

let sandbox: Sandbox
let agent: SandboxAgent
beforeAll(async () => {
  sandbox = await startSandbox({ delayMs: 0 })
  agent = sandbox.agents.fastgpt
})
afterAll(() => sandbox.close())

const answer =
  (event: string) =>
  (content: string | null, finish: string | null = null) =>
    `${event}data: {"id":"","object":"","created":0,"model":"","choices":[{"delta":{"role":"assistant","content":${JSON.stringify(content)}},"index":0,"finish_reason":${JSON.stringify(finish)}}]}\n\n`
const plain = answer('')
const detailed = answer('event: answer\n')

const START =
  '{"id":"k1","nodeId":"448745","moduleName":"流程开始","moduleType":"workflowStart","runningTime":0}'
const MODEL =
  '{"totalPoints":0.0123,"model":"sandbox","inputTokens":8,"outputTokens":2,"query":"sandbox:echo 你好🚀","maxToken":4000,"historyPreview":[{"obj":"Human","value":"sandbox:echo 你好🚀"},{"obj":"AI","value":"你好🚀"}],"contextTotalLen":2,"finishReason":"stop","id":"k2","nodeId":"loOvhld2ZTKa","moduleName":"AI 对话","moduleType":"chatNode","runningTime":1.86}'
const running = (name: string) => `event: flowNodeStatus\ndata: {"status":"running","name":"${name}"}\n\n`
const DONE = 'event: answer\ndata: [DONE]\n\n'
const RESPONSES = `event: flowResponses\ndata: [${START},${MODEL}]\n\n`
const TEXT = detailed('你好') + detailed('🚀')
const STOP = detailed(null, 'stop')

const hello = (path: string, key: string, detail: boolean) =>
  post(
    agent,
    path,
    { stream: true, detail, messages: [{ role: 'user', content: 'sandbox:echo 你好🚀' }] },
    { key },
  )

test('FastGPT’s stream without detail is bare frames, a stop and [DONE]', async () => {
  const response = await hello('/v1/chat/completions', agent.apiKey, false)
  expect(response.headers.get('content-type')).toBe('text/event-stream;charset=utf-8')
  expect(await response.text()).toBe(`${plain('你好') + plain('🚀') + plain(null, 'stop')}data: [DONE]\n\n`)
})

test('with detail, v1 of FastGPT’s 2025 sends flowResponses after [DONE]', async () => {
  const bytes = await (await hello('/v1/chat/completions', agent.apiKey, true)).text()
  expect(bytes).toBe(running('流程开始') + running('AI 对话') + TEXT + STOP + DONE + RESPONSES)
})

test('with detail, v1 of FastGPT’s 2026 sends a title, and flowResponses before [DONE]', async () => {
  const bytes = await (await hello('/v1/chat/completions', agent.keys['2026'] ?? '', true)).text()
  const title = 'event: chatTitle\ndata: {"title":"sandbox:echo 你好🚀"}\n\n'
  expect(bytes).toBe(running('流程开始') + running('AI 对话') + TEXT + title + STOP + RESPONSES + DONE)
})

test('with detail, v2 of FastGPT sends one flowNodeResponse a node, and a duration', async () => {
  const bytes = await (await hello('/v2/chat/completions', agent.apiKey, true)).text()
  const finished = (node: string) => `event: flowNodeResponse\ndata: ${node}\n\n`
  const duration = 'event: workflowDuration\ndata: {"durationSeconds":2.31}\n\n'
  expect(bytes).toBe(
    running('流程开始') +
      finished(START) +
      running('AI 对话') +
      TEXT +
      finished(MODEL) +
      duration +
      STOP +
      DONE,
  )
})

test('FastGPT returns variables as updateVariables', async () => {
  const body = { detail: true, variables: { topic: '电影' } }
  const bytes = await (await ask.fastgpt(agent, 'sandbox:echo x', { body })).text()
  expect(bytes).toContain('event: updateVariables\ndata: {"topic":"电影"}\n\n')
})

test('a blocking reply of FastGPT has the chat’s id, a usage of ones, and nodes with detail only', async () => {
  const question = { stream: false, body: { chatId: 'chat-7f3a' } }
  expect(await readJson(await ask.fastgpt(agent, 'sandbox:echo 你好', question))).toEqual({
    id: 'chat-7f3a',
    model: '',
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 1 },
    choices: [{ message: { role: 'assistant', content: '你好' }, finish_reason: 'stop', index: 0 }],
  })
  const detailed = { stream: false, body: { detail: true } }
  expect(await readJson(await ask.fastgpt(agent, 'sandbox:echo 你好', detailed))).toMatchObject({
    responseData: [{ moduleType: 'workflowStart' }, { moduleType: 'chatNode', outputTokens: 1 }],
    newVariables: {},
  })
})

test('a chat keeps its context under its own id only', async () => {
  await ask.fastgpt(agent, 'My name is Ada', { body: { chatId: 'ada' } })
  const name = async (body: object) =>
    textOf('fastgpt', await (await ask.fastgpt(agent, 'What is my name?', { body: { ...body } })).text())
  expect(await name({ chatId: 'ada' })).toContain('Your name is Ada')
  expect(await name({ chatId: 'bob' })).toContain('You have not told me')
  expect(await name({})).toContain('You have not told me')
})

test('without a chatId the sent messages are the context', async () => {
  const messages = [
    { role: 'user', content: 'My name is Ada' },
    { role: 'assistant', content: 'Hello' },
    { role: 'user', content: 'What is my name?' },
  ]
  const bytes = await (await ask.fastgpt(agent, '', { body: { messages } })).text()
  expect(textOf('fastgpt', bytes)).toContain('Your name is Ada')
})

test('FastGPT reads images and files from the content parts', async () => {
  await using files = await startFileServer()
  const content = [
    { type: 'text', text: 'Look' },
    { type: 'image_url', image_url: { url: `${files.origin}/y.png` } },
    { type: 'image_url', image_url: { url: dataUrl('image/png') } },
    { type: 'file_url', name: 'report.pdf', url: `${files.origin}/1` },
    { type: 'file_url', name: 'lost.pdf', url: `${files.origin}/missing` },
    { type: 'file_url', name: 'inline.pdf', url: dataUrl('application/pdf') },
  ]
  const bytes = await (
    await ask.fastgpt(agent, '', { body: { messages: [{ role: 'user', content }] } })
  ).text()
  expect(textOf('fastgpt', bytes)).toContain(
    [
      'I received 5 files:',
      lineOf('y.png'),
      lineOf('data:image/png;base64,…'),
      lineOf('report.pdf'),
      `- lost.pdf ${files.origin}/missing (not readable: status 404)`,
      '- inline.pdf data:application/pdf;base64,… (not readable: not an accepted URL)',
    ].join('\n'),
  )
})

test('a body over 20 MiB is rejected', async () => {
  const url = dataUrl('image/png', Buffer.alloc(16 * 1024 * 1024))
  const content = [{ type: 'image_url', image_url: { url } }]
  const refused = await ask.fastgpt(agent, '', { body: { messages: [{ role: 'user', content }] } })
  expect([refused.status, await refused.text()]).toEqual([413, 'Body exceeded 20mb limit'])
})

test('a run ends with its client even if that leaves while files are read', async () => {
  await using files = await startFileServer()
  const content = [
    { type: 'text', text: 'sandbox:hang' },
    { type: 'file_url', name: 'a.txt', url: `${files.origin}/silent` },
  ]
  const [leaving, requested, known] = [new AbortController(), files.requested(), agent.seen.runs.at(-1)]
  const gone = ask.fastgpt(agent, '', {
    signal: leaving.signal,
    body: { messages: [{ role: 'user', content }] },
  })
  await requested
  leaving.abort()
  await expect(gone).rejects.toThrow('aborted')
  const run = await agent.seen.waitFor(({ runs }) => runs.at(-1) !== known && runs.at(-1))
  await agent.seen.waitFor(() => run.state === 'aborted')
})

const WRONG_KEY =
  '{"code":514,"statusText":"unAuthApiKey","message":"common:code_error.error_message.514","data":null}'

test('a wrong key has status 200 without a content type on a stream, and 500 otherwise', async () => {
  const streamed = await ask.fastgpt(agent, 'x', { key: 'fastgpt-wrong' })
  expect([streamed.status, streamed.headers.get('content-type')]).toEqual([200, null])
  expect(await streamed.text()).toBe(`event: error\ndata: ${WRONG_KEY}\n\n`)
  const blocking = await ask.fastgpt(agent, 'x', { key: 'fastgpt-wrong', stream: false })
  expect([blocking.status, await blocking.text()]).toEqual([500, WRONG_KEY])
})

test.each([
  ['odd', '"statusText":"unAuthorization"'],
  ['fastgpt-sandboxteam', '"message":"Key is error. '],
  ['fastgpt-sandboxteam-66e0a1b2c3d4e5f607182931', '"message":"app is empty"'],
])('the key %s is rejected with %s', async (key, reason) => {
  expect(await (await ask.fastgpt(agent, 'x', { key })).text()).toContain(reason)
})

test('an account’s key works with an existing app', async () => {
  const question = { key: agent.keys.team ?? '', body: { appId: agent.appId } }
  expect(textOf('fastgpt', await (await ask.fastgpt(agent, 'sandbox:echo x', question)).text())).toBe('x')
})

test.each([
  ['x', 'messages is not array'],
  [[], 'messages is empty'],
  [[{ role: 'user', content: '' }], 'User question is empty'],
])('FastGPT rejects the messages %j: %s', async (messages, message) => {
  const refused = await ask.fastgpt(agent, '', { stream: false, body: { messages } })
  expect(await readJson(refused)).toMatchObject({ code: 500, message })
})

test.each([
  ['credentials', 514, 500],
  ['quota', 500004, 500],
  ['rate-limit', 429, 429],
  ['busy', 409, 409],
  ['not-found', 504000, 500],
  ['app-not-found', 502000, 500],
  ['rejected', 400, 400],
  ['filtered', 500, 500],
  ['misconfigured', 511, 500],
  ['server', 500, 500],
])('error=%s has the code %d of FastGPT with the status %d', async (kind, code, status) => {
  const refused = await ask.fastgpt(agent, `sandbox:error=${kind}`, { stream: false })
  expect([refused.status, (await readJson(refused)).code]).toEqual([status, code])
})

test.each([
  ['rate-limit', 429, 'Please try again in 23 seconds.'],
  ['rejected', 400, 'Invalid input'],
])('error=%s answers a stream of FastGPT with JSON', async (kind, status, message) => {
  const refused = await ask.fastgpt(agent, `sandbox:error=${kind}`)
  expect(refused.status).toBe(status)
  expect((await readJson(refused)).message).toContain(message)
})

test('a failed node shows only a stop without detail, its error with detail, and both in a body', async () => {
  const bare = await (await ask.fastgpt(agent, 'sandbox:node-failed')).text()
  expect(bare).toBe(`${plain(null, 'stop')}data: [DONE]\n\n`)
  const detailed = await (await ask.fastgpt(agent, 'sandbox:node-failed', { body: { detail: true } })).text()
  expect(detailed).toContain('"errorText":"401 Incorrect API key provided"')
  const body = await readJson(await ask.fastgpt(agent, 'sandbox:node-failed', { stream: false }))
  expect(body.error).toEqual({ message: '401 Incorrect API key provided' })
})

describe('a pause of FastGPT', () => {
  const say = async (chatId: string, query: string, more: object = {}) =>
    (await ask.fastgpt(agent, query, { body: { chatId, detail: true, ...more } })).text()
  const questionOf = (bytes: string) => {
    const { data = '{}' } = framesOf(bytes).find(({ event }) => event === 'interactive') ?? {}
    return JSON.parse(data).interactive
  }
  const lastRun = () => agent.seen.runs.at(-1)

  test('offers a choice, which the next message of the chat makes, within one run', async () => {
    const query = 'sandbox:interactive 退款'
    const paused = await say('refund', query)
    expect(questionOf(paused)).toMatchObject({
      type: 'userSelect',
      params: {
        description: '请选择',
        userSelectOptions: [{ value: '确认', key: 'option1' }, { value: '取消' }],
      },
    })
    expect(textOf('fastgpt', paused)).toBe('')
    expect(lastRun()).toMatchObject({ query, state: 'paused', answers: [] })
    const rest = textOf('fastgpt', await say('refund', '确认'))
    expect(rest).toMatch(/^你选择了“确认”。\n\n/)
    expect(rest).toContain(`开头是：“${query}”`)
    expect(agent.seen.turns({ conversationId: 'refund' })).toBe(1)
    expect(lastRun()).toMatchObject({ query, state: 'finished', answers: ['确认'] })
  })

  test('is answered in another dialect and without streaming as well', async () => {
    await say('whole', 'sandbox:interactive', { detail: false })
    const body = { chatId: 'whole' }
    const { choices } = await readJson(await ask.fastgpt(agent, '取消', { stream: false, body }))
    expect(JSON.stringify(choices)).toContain('你选择了“取消”。')
    const paused = await readJson(
      await ask.fastgpt(agent, 'sandbox:interactive', { stream: false, body: { ...body, detail: true } }),
    )
    expect(paused.choices).toMatchObject([{ message: { content: [{ type: 'interactive' }] } }])
    expect(lastRun()?.state).toBe('paused')
  })

  test('ends without a text if the answer is no option, since the select skips all of its branches', async () => {
    await say('unsure', 'sandbox:interactive')
    const rest = await say('unsure', '也许')
    expect(rest).toBe(`${running('流程开始') + STOP + DONE}event: flowResponses\ndata: [${START}]\n\n`)
    expect(lastRun()).toMatchObject({ state: 'finished', answers: ['也许'] })
    expect(textOf('fastgpt', await say('unsure', 'sandbox:echo x'))).toBe('x')
  })

  test('may ask for a form, whose fields come back as a JSON object', async () => {
    const { type, params } = questionOf(await say('form', 'sandbox:interactive=form'))
    expect(type).toBe('userInput')
    const fields: { type: string; key: string; required: boolean }[] = params.inputForm
    expect(fields.map(({ type, key, required }) => [type, key, required])).toEqual([
      ['input', 'name', true],
      ['numberInput', 'nights', false],
      ['select', 'room', false],
    ])
    const filled = { name: 'Ada', nights: 2, room: 'twin' }
    const rest = textOf('fastgpt', await say('form', JSON.stringify(filled)))
    expect(rest).toMatch(/^你填写了：\n- name: Ada\n- nights: 2\n- room: twin\n\n/)
    expect(lastRun()?.answers).toEqual([filled])
  })

  test('takes what is no JSON for a form without values, as the platform does', async () => {
    await say('text', 'sandbox:interactive=text')
    expect(textOf('fastgpt', await say('text', 'Ada sandbox:slow=0'))).not.toContain('你填写了')
    expect(lastRun()?.answers).toEqual([{}])
  })

  test('may be followed by another', async () => {
    await say('twice', 'sandbox:interactive=twice')
    const again = await say('twice', '确认')
    expect(questionOf(again).params.description).toBe('请再次选择')
    expect(lastRun()?.state).toBe('paused')
    expect(textOf('fastgpt', await say('twice', '取消'))).toMatch(/^你选择了“取消”。/)
    expect(lastRun()).toMatchObject({ state: 'finished', answers: ['确认', '取消'] })
    expect(agent.seen.turns({ conversationId: 'twice' })).toBe(1)
  })

  test('is of one chat only, and a refused answer leaves it open', async () => {
    await say('mine', 'sandbox:interactive')
    expect(textOf('fastgpt', await say('other', '确认'))).not.toContain('你选择了')
    await say('mine', '确认 sandbox:error=server')
    expect(textOf('fastgpt', await say('mine', '确认'))).toContain('你选择了“确认”')
  })

  test('outlives the connection that has brought the question', async () => {
    const leaving = new AbortController()
    const body = { chatId: 'gone' }
    const paused = await ask.fastgpt(agent, 'sandbox:interactive', { body, signal: leaving.signal })
    await paused.text()
    leaving.abort()
    const rest = await ask.fastgpt(agent, '确认', { body })
    expect(await rest.text()).toContain('[DONE]')
    expect(lastRun()).toMatchObject({ conversationId: 'gone', state: 'finished' })
  })
})

test('v2/chat/stop ends the run with its usual last frames', async () => {
  const response = await ask.fastgpt(agent, 'sandbox:silence sandbox:echo a b', {
    body: { chatId: 'stopped' },
  })
  const stopped = await post(agent, '/v2/chat/stop', { appId: agent.appId, chatId: 'stopped' })
  expect(await stopped.json()).toEqual({ code: 200, statusText: '', message: '', data: { success: true } })
  expect(await response.text()).toBe(`${plain('a') + plain(null, 'stop')}data: [DONE]\n\n`)
  const { runs, stops } = agent.seen
  expect(stops.at(-1)).toMatchObject({ runId: runs.at(-1)?.id, body: { chatId: 'stopped' } })
  expect(runs.at(-1)?.state).toBe('stopped')
})

test('a second run in a chat is rejected in 2026 and accepted in 2025', async () => {
  const key = agent.keys['2026'] ?? ''
  for (const [used, expected] of [
    [key, 'chatIsGenerating'],
    [agent.apiKey, 'finish_reason'],
  ] as const) {
    const body = { chatId: `busy-${used}` }
    const first = await ask.fastgpt(agent, 'sandbox:silence sandbox:echo a b', { key: used, body })
    expect(await (await ask.fastgpt(agent, 'x', { key: used, body })).text()).toContain(expected)
    await first.body?.cancel()
  }
})

test('FastGPT’s probe needs no key, and an unknown path returns a web page', async () => {
  expect((await readJson(await get(agent, '/common/system/getInitData'))).code).toBe(200)
  const unknown = await get(agent, '/nowhere')
  expect([unknown.status, unknown.headers.get('content-type')]).toEqual([404, 'text/html'])
})
