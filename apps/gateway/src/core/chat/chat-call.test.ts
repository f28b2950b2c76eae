import { expect, test } from 'vitest'
import type { Agent, AgentApp } from '#core/agents/agent.ts'
import { agentOf } from '#core/agents/transcripts.test-support.ts'
import { Problem } from '#core/errors.ts'
import { type ChatCall, resolveCall } from './chat-call.ts'

const agents = new Map<string, Agent>(
  [
    agentOf('fastgpt'),
    agentOf('hiagent'),
    agentOf('dify'),
    agentOf('openai', { id: 'models', apps: [appOf('small'), appOf('large')] }),
    agentOf('openai', { id: 'preset', apps: [appOf('small'), appOf('large', { default: true })] }),
    agentOf('fastgpt', { id: 'single', apps: [appOf('only')] }),
  ].map((agent) => [agent.id, agent]),
)

function appOf(id: string, more: Partial<AgentApp> = {}): AgentApp {
  return { id, name: id, default: false, ...more }
}

function callOf(more: Partial<ChatCall> = {}): ChatCall {
  return {
    requestId: 'request-1',
    face: 'rest',
    credential: 'tl_key',
    address: '192.0.2.1',
    agent: 'dify',
    appId: '',
    chatId: '',
    conversationId: '',
    stream: false,
    query: 'hello',
    files: [],
    endUser: '',
    variables: {},
    ...more,
  }
}

const resolve = (more: Partial<ChatCall>) => resolveCall(agents, callOf(more))

function refusal(more: Partial<ChatCall>): { reason: string; detail: string } | undefined {
  try {
    resolve(more)
  } catch (error) {
    if (error instanceof Problem) return { reason: error.reason, detail: error.detail }
    throw error
  }
  return undefined
}

test('the agent is found without regard to case and surrounding space', () => {
  expect(resolve({ agent: ' Dify ' }).target.id).toBe('dify')
  expect(resolve({ agent: 'FASTGPT', appId: 'a' }).adapter.platform).toBe('fastgpt')
})

test.each([undefined, '', ' ', 'diffy', 'dify, fastgpt', 'constructor', '__proto__'])(
  'agent %o is unknown, and the refusal lists those that exist',
  (agent) => {
    const { reason, detail } = refusal({ agent }) ?? {}
    expect(reason).toBe('unknown_agent')
    expect(detail).toContain('fastgpt, hiagent, dify, models, preset, single')
  },
)

test('the first thing that is wrong is told: agent, ids, app, required ids, files', () => {
  const long = 'x'.repeat(257)
  const files = ['ftp://x']
  const reasons = [
    refusal({ agent: 'none', appId: long, files }),
    refusal({ agent: 'models', appId: 'unknown', chatId: long, files }),
    refusal({ agent: 'models', appId: 'unknown', files }),
    refusal({ agent: 'fastgpt', appId: ' ', files }),
    refusal({ agent: 'hiagent', conversationId: ' ', chatId: 'c', files }),
    refusal({ agent: 'dify', files }),
  ].map((told) => told?.reason)
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
  '%s takes 256 characters of any text, but no control characters and no half of a pair',
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

test('where an agent lists apps, one of them is taken: the named one, the default or the only one', () => {
  expect(resolve({ agent: 'models', appId: 'large' }).app?.id).toBe('large')
  expect(resolve({ agent: 'preset', appId: 'small' }).app?.id).toBe('small')
  expect(resolve({ agent: 'preset' }).app?.id).toBe('large')
  expect(resolve({ agent: 'single' }).app?.id).toBe('only')
  expect(refusal({ agent: 'models' })).toEqual({
    reason: 'app_id_required',
    detail: 'body.app_id: expected one of small, large.',
  })
  expect(refusal({ agent: 'single', appId: 'other' })).toEqual({
    reason: 'app_not_found',
    detail: 'body.app_id: agent single has only.',
  })
})

test('the app of the ledger is a configured one, or what the platform takes from the caller', () => {
  expect(resolve({ agent: 'fastgpt', appId: 'mine' }).ledgerApp).toBe('mine')
  expect(resolve({ agent: 'preset', appId: '' }).ledgerApp).toBe('large')
  expect(resolve({ agent: 'dify', appId: 'whatever a caller writes' }).ledgerApp).toBe('')
})

test('the conversation is named by chat_id, else by conversation_id; for hiagent by conversation_id alone', () => {
  const named = (more: Partial<ChatCall>) => resolve(more).clientConversationId
  expect(named({ chatId: 'chat', conversationId: 'conversation' })).toBe('chat')
  expect(named({ chatId: ' ', conversationId: 'conversation' })).toBe('conversation')
  expect(named({})).toBe('')
  expect(named({ agent: 'hiagent', chatId: 'chat', conversationId: 'conversation' })).toBe('conversation')
})

test('up to twenty public files may be attached, and the refusal names the one that is not', () => {
  const file = 'https://files.example.com/a.pdf'
  expect(refusal({ files: Array(20).fill(file) })).toBeUndefined()
  expect(refusal({ files: Array(21).fill(file) })?.detail).toBe('body.files: expected at most 20 URLs.')
  expect(refusal({ files: [file, 'http://localhost/a'] })).toEqual({
    reason: 'invalid_request',
    detail: 'body.files[1]: expected a publicly reachable URL.',
  })
})
