import { expect, test } from 'vitest'
import type { AgentApp } from '#core/agents/adapter.ts'
import type { ServedAgent } from '#core/agents/served-agent.ts'
import { agentOf } from '#core/agents/transcripts.test-support.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { resolveCall } from './call.ts'
import { type RequestFields, requestOf } from './chat-request.test-support.ts'

const agents = new Map<string, ServedAgent>(
  [
    agentOf('fastgpt'),
    agentOf('hiagent'),
    agentOf('dify'),
    agentOf('coze', { options: { botId: 'preset' } }),
    agentOf('openai', { options: { model: 'm' } }),
    agentOf('openai', { id: 'models', apps: [appOf('small'), appOf('large')] }),
    agentOf('openai', { id: 'preset', apps: [appOf('small'), appOf('large', { default: true })] }),
    agentOf('fastgpt', { id: 'single', apps: [appOf('only')] }),
  ].map((agent) => [agent.id, agent]),
)

function appOf(id: string, more: Partial<AgentApp> = {}): AgentApp {
  return { id, name: id, default: false, options: {}, ...more }
}

function modelCall(model: string, more: RequestFields = {}): RequestFields {
  const [agent, appId = ''] = model.split('/')
  return {
    model,
    agent,
    appId,
    messages: [{ role: 'user', content: 'hello' }],
    isInModel: true,
    ...more,
  }
}

const ISSUED = 'http://localhost:8080/files/token/a.png'
const isIssued = (url: string) => url === ISSUED
const resolve = (more: RequestFields, allowed?: string[]) =>
  resolveCall(agents, requestOf(more), isIssued, allowed)

function refusal(more: RequestFields, allowed?: string[]): { reason: string; detail: string } | undefined {
  try {
    resolve(more, allowed)
  } catch (error) {
    if (error instanceof Problem) return { reason: error.reason, detail: error.detail }
    throw error
  }
  return undefined
}

test('the agent is found regardless of case and surrounding whitespace', () => {
  expect(resolve({ agent: ' Dify ' }).agent.id).toBe('dify')
  expect(resolve({ agent: 'FASTGPT', appId: 'a' }).agent.adapter.platform).toBe('fastgpt')
})

test.each([undefined, '', ' ', 'diffy', 'dify, fastgpt', 'constructor', '__proto__'])(
  'agent %o is unknown, and the error lists the existing agents',
  (agent) => {
    const { reason, detail } = refusal({ agent }) ?? {}
    expect(reason).toBe('unknown_agent')
    expect(detail).toContain('fastgpt, hiagent, dify, coze, openai, models, preset, single')
  },
)

test('errors are reported in a fixed order: agent, ids, app, required ids, files', () => {
  const long = 'x'.repeat(257)
  const files = ['ftp://x']
  const reasons = [
    refusal({ agent: 'none', appId: long, files }),
    refusal({ agent: 'models', appId: 'unknown', chatId: long, files }),
    refusal({ agent: 'models', appId: 'unknown', files }),
    refusal({ agent: 'fastgpt', appId: ' ', files }),
    refusal({ agent: 'hiagent', conversationId: ' ', chatId: 'c', files }),
    refusal({ agent: 'dify', files }),
  ].map((problem) => problem?.reason)
  expect(reasons).toEqual([
    'unknown_agent',
    'invalid_request',
    'app_not_found',
    'app_id_required',
    'conversation_id_required',
    'invalid_request',
  ])
})

test.each(['appId', 'chatId', 'conversationId', 'endUser'] as const)(
  '%s accepts 256 characters of any text, but no control characters and no lone surrogates',
  (field) => {
    const agent = field === 'appId' ? 'fastgpt' : 'dify'
    expect(refusal({ agent, [field]: `会话 ${'👋'.repeat(253)}` })).toBeUndefined()
    for (const bad of [
      'x'.repeat(257),
      '👋'.repeat(257),
      'a\nb',
      'a\u0000',
      'a\u007f',
      'a\u0085',
      '\ud83d',
      'a\udc4b',
    ]) {
      expect(refusal({ agent, [field]: bad })?.reason).toBe('invalid_request')
    }
  },
)

test('if an agent lists apps, the call uses the named one, the default or the only one', () => {
  expect(resolve({ agent: 'models', appId: 'large' }).app?.id).toBe('large')
  expect(resolve({ agent: 'preset', appId: 'small' }).app?.id).toBe('small')
  expect(resolve({ agent: 'preset' }).app?.id).toBe('large')
  expect(resolve({ agent: 'single' }).app?.id).toBe('only')
  expect(refusal({ agent: 'models' })).toEqual({
    reason: 'app_id_required',
    detail: 'appId: expected one of small, large.',
  })
  expect(refusal({ agent: 'single', appId: 'other' })).toEqual({
    reason: 'app_not_found',
    detail: 'appId: agent single has only.',
  })
})

test('the ledger records a configured app, or the text that the platform accepts from the caller', () => {
  expect(resolve({ agent: 'fastgpt', appId: 'mine' }).ledgerApp).toBe('mine')
  expect(resolve({ agent: 'preset', appId: '' }).ledgerApp).toBe('large')
  expect(resolve({ agent: 'dify', appId: 'whatever a caller writes' }).ledgerApp).toBe('')
  // Coze receives the named bot even if the entry configures one.
  expect(resolve({ agent: 'coze', appId: ' mine ' }).ledgerApp).toBe('mine')
  expect(resolve({ agent: 'coze' }).ledgerApp).toBe('')
})

test('the conversation is identified by chat_id, otherwise by conversation_id; for hiagent only by conversation_id', () => {
  const named = (more: RequestFields) => {
    const { conversation } = resolve(more)
    return conversation.kind === 'named' ? conversation.id : conversation.kind
  }
  expect(named({ chatId: 'chat', conversationId: 'conversation' })).toBe('chat')
  expect(named({ chatId: ' ', conversationId: 'conversation' })).toBe('conversation')
  expect(named({})).toBe('new')
  expect(named({ chatId: ' ', conversationId: ' ' })).toBe('new')
  expect(named({ agent: 'hiagent', chatId: 'chat', conversationId: 'conversation' })).toBe('conversation')
})

test('up to twenty public files may be attached, and the error names the first that is not public', () => {
  const file = 'https://files.example.com/a.pdf'
  expect(refusal({ files: Array(20).fill(file) })).toBeUndefined()
  expect(refusal({ files: Array(21).fill(file) })?.detail).toBe(
    'files: expected an array of at most 20 items, each a string.',
  )
  expect(refusal({ files: [file, 'http://localhost/a'] })).toEqual({
    reason: 'invalid_request',
    detail: 'files[1]: expected a publicly reachable URL.',
  })
})

test.each([
  ['an object', { doc: { transfer_method: 'remote_url', url: 'http://10.0.0.1/a' } }, 'doc.url'],
  ['a list of objects', { docs: [{ remote_url: 'http://metadata.google.internal/' }] }, 'docs[0].remote_url'],
  ['a list of URLs', { docs: ['https://files.example.com/a', 'http://[::1]/'] }, 'docs[1]'],
  ['anything deep down', { a: { b: [{ c: 'file:///etc/passwd' }] } }, 'a.b[0].c'],
])('variables that hold files as %s accept only public URLs', (_kind, variables, place) => {
  const problem = refusal({ variables })
  expect(problem?.reason).toBe('invalid_request')
  expect(problem?.detail).toMatch(`variables.${place}: expected `)
})

test('a variable may be any string, or contain values that are not URLs', () => {
  const variables = {
    homepage: 'http://localhost:3000',
    doc: { type: 'image', transfer_method: 'remote_url', url: 'https://files.example.com/a.png' },
    list: ['a', 7, null, { path: '/a/b', note: 'see http://localhost' }],
    nothing: null,
  }
  expect(resolve({ variables }).asks).toMatchObject({ variables })
})

test('the error for an unknown model lists the models that can be called, including apps', () => {
  expect(refusal(modelCall('gpt-4o'))).toEqual({
    reason: 'model_not_found',
    detail:
      'agent: expected one of fastgpt/<app id>, hiagent, dify, coze, coze/<app id>, openai, models/small, models/large, preset, preset/small, preset/large, single, single/only.',
  })
})

test.each(['openai/dify', 'hiagent/gpt-4o', 'dify/', 'dify/a/b'])(
  '%s is not a model, because its platform has no apps',
  (model) => {
    expect(refusal(modelCall(model))).toMatchObject({
      reason: 'model_not_found',
      detail: expect.stringMatching(/^appId: agent \w+ has no apps/),
    })
  },
)

test('the error for a model without its app shows how to name one', () => {
  expect(refusal(modelCall('fastgpt'))).toEqual({
    reason: 'app_id_required',
    detail:
      'appId: agent fastgpt needs an app, as in fastgpt/<app id>, which is the appId in the address of the page of an app in FastGPT.',
  })
  expect(refusal(modelCall('models'))?.detail).toBe('appId: expected one of models/small, models/large.')
  expect(refusal(modelCall('models/tiny'))?.detail).toBe(
    'appId: agent models has models/small, models/large.',
  )
})

test('if a header names the agent, the model names what follows its slash', () => {
  const call = modelCall('whatever/large', { agent: 'models', isInModel: false })
  expect(resolve(call).app?.id).toBe('large')
  expect(refusal({ ...call, agent: 'none' })?.reason).toBe('unknown_agent')
  expect(refusal({ ...call, agent: 'dify' })?.reason).toBe('model_not_found')
})

test('a blank query, an empty message array and an unknown role are rejected without a schema', () => {
  for (const query of ['', ' \n\u3000']) {
    expect(refusal({ query })?.detail).toBe('query: expected a string that is not blank, or files.')
    expect(refusal({ query, files: ['https://example.com/a.png'] })).toBeUndefined()
  }
  for (const agent of ['openai', 'dify']) {
    expect(refusal(modelCall(agent, { messages: [] }))?.detail).toBe(
      'messages: expected at least one message.',
    )
    const messages = [
      { role: 'user', content: 'hello' },
      { role: 'root', content: 'hello' },
    ]
    expect(refusal(modelCall(agent, { messages }))?.detail).toMatch(
      /^messages\[1\]\.role: expected one of developer, /,
    )
  }
})

test('errors carry the path of the field, independent of its name on a face', () => {
  const call = modelCall('dify')
  expect(refusal({ ...call, conversationId: '\n' })?.detail).toMatch(/^conversationId: /)
  expect(refusal({ ...call, endUser: '\n' })?.detail).toMatch(/^endUser: /)
  expect(refusal({ ...modelCall('fastgpt/a'), appId: '\n' })?.detail).toMatch(/^appId: /)
  const part = { type: 'image_url', image_url: { url: 'https://files.example.com/a.png' } }
  const content = [{ type: 'text', text: 'hello' }, ...Array(21).fill(part)]
  expect(refusal({ ...call, messages: [{ role: 'user', content }] })?.detail).toBe(
    'files: expected an array of at most 20 items, each a string.',
  )
})

test('errors name nothing that the key may not use', () => {
  const allowed = ['dify', 'preset/small', 'models/large', 'fastgpt/mine', 'hiagent/none', 'single/other']
  expect(refusal({ agent: 'none' }, allowed)?.detail).toBe(
    'agent: expected one of fastgpt, dify, models, preset.',
  )
  expect(refusal(modelCall('none'), allowed)?.detail).toBe(
    'agent: expected one of fastgpt/mine, dify, models/large, preset/small.',
  )
  expect(refusal({ agent: 'models' }, allowed)?.detail).toBe('appId: expected one of large.')
  expect(refusal({ agent: 'models', appId: 'x' }, allowed)?.detail).toBe('appId: agent models has large.')
  expect(refusal({ agent: 'models' }, ['dify'])?.detail).toBe('appId: agent models needs an app id.')
  expect(refusal({ agent: 'models', appId: 'x' }, ['dify'])?.detail).toBe(
    'appId: agent models has no such app.',
  )
  expect(refusal({ agent: 'none' }, ['gone'])?.detail).toBe(
    'agent: expected an agent, but this key may use none.',
  )
})

test('tools that name a server must not name a private one', () => {
  const tools = [
    { type: 'function', function: { name: 'f', parameters: { default: 'http://localhost' } } },
    { type: 'mcp', server_url: 'http://10.0.0.1/mcp' },
  ]
  expect(refusal(modelCall('openai', { parameters: { tools } }))?.detail).toBe(
    'tools[1].server_url: expected a publicly reachable URL.',
  )
  expect(refusal(modelCall('openai', { parameters: { tools: tools.slice(0, 1) } }))).toBeUndefined()
})

test('messages may contain at most 20 different uploaded files, which counts no other URL and no repetition', () => {
  const isUploaded = (url: string) => url.startsWith('http://localhost:8080/files/')
  const withImages = (urls: readonly string[]) => {
    const content = urls.map((url) => ({ type: 'image_url', image_url: { url } }))
    const call = modelCall('openai', { messages: [{ role: 'user', content }] })
    return resolveCall(agents, requestOf(call), isUploaded)
  }
  const uploaded = Array.from({ length: 21 }, (_, index) => `http://localhost:8080/files/t/${index}.png`)
  const others = Array.from({ length: 21 }, (_, index) => `https://files.example.com/${index}.png`)
  expect(withImages([...uploaded.slice(1), ...uploaded.slice(1), ...others]).asks.hasOwnFiles).toBe(true)
  expect(withImages(others).asks.hasOwnFiles).toBe(false)
  expect(() => withImages(uploaded)).toThrow(
    expect.objectContaining({
      detail: 'messages[0].content[20].image_url.url: expected at most 20 uploaded files.',
    }),
  )
})

test('a request may name at most 100 different URLs of files, of which a long history repeats each as often as it likes', () => {
  const urls = Array.from({ length: 101 }, (_, index) => `https://files.example.com/${index}.png`)
  const first = urls.slice(0, 100)
  const history = (each: readonly string[]) =>
    each.map((url) => ({ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }))
  const data = Array.from({ length: 200 }, (_, index) => `data:image/png;base64,AAAA${index}AAA`)
  const ofMessages = (each: readonly string[]) =>
    refusal(modelCall('openai', { messages: history(each) }))?.detail
  expect(ofMessages([...first, ...data, ...first])).toBeUndefined()
  expect(ofMessages(urls)).toBe('messages[100].content[0].image_url.url: expected at most 100 URLs of files.')
  expect(refusal({ agent: 'dify', variables: { files: urls } })?.detail).toBe(
    'variables.files[100]: expected at most 100 URLs of files.',
  )
})

test('an agent without memory gets all messages, also in a conversation; one with memory the last question', () => {
  const messages = [
    { role: 'user', content: 'My name is Ada.' },
    { role: 'assistant', content: 'Hello Ada.' },
    { role: 'user', content: 'Who am I?' },
  ]
  const asksOf = (agent: ServedAgent) =>
    resolveCall(
      new Map([[agent.id, agent]]),
      requestOf(modelCall('dify', { messages, conversationId: 'c' })),
      isIssued,
    ).asks
  expect(asksOf(agentOf('dify'))).toMatchObject({ query: 'Who am I?', isWhole: false })
  expect(asksOf(agentOf('dify', { options: { mode: 'workflow' } }))).toMatchObject({
    query: expect.stringContaining('My name is Ada.'),
    isWhole: true,
  })
})
