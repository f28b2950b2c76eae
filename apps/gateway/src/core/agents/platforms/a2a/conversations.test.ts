import { expect, test } from 'vitest'
import {
  adapterOf,
  agentFor,
  callOf,
  conversationOf,
  readBy,
  textSent,
  transcriptNamed,
} from '#core/agents/transcripts.test-support.ts'

const a2a = adapterOf('a2a')
const NO_HEADER = () => undefined
const BINDINGS = { http: ['HTTP+JSON', '1.0'], rpc: ['JSONRPC', '1.0'], former: ['JSONRPC', '0.3'] } as const

function turnOf(binding: keyof typeof BINDINGS, contextId = 'context-1') {
  const [protocolBinding, protocolVersion] = BINDINGS[binding]
  const supportedInterfaces = [{ url: '/agent', protocolBinding, protocolVersion }]
  const card = { supportedInterfaces, capabilities: { streaming: true } }
  const agent = agentFor(a2a, { options: { card } })
  const conversation = conversationOf(agent, { platformConversationId: contextId })
  const call = a2a.conversations?.(agent)?.turn?.(conversation, 'task-1')
  if (call === undefined) throw new Error('there is no such call')
  return call
}

const TURN = [
  {
    id: 'm1',
    role: 'user',
    text: 'Write a report',
    files: [{ url: 'https://x/data.csv', name: 'data.csv' }],
  },
  // What was said about the work is left out.
  { id: 'm3', role: 'assistant', text: 'For which year?', files: [] },
  { id: 'm4', role: 'user', text: '2025', files: [] },
  {
    id: 'task-1',
    role: 'assistant',
    text: 'Here is the report.',
    files: [{ url: 'https://x/report.pdf', name: 'report.pdf' }],
    createdAt: new Date('2026-02-03T04:05:06Z'),
    answerId: 'task-1',
  },
]

test('a turn is a task with its history, over HTTP', () => {
  const call = turnOf('http')
  expect(call.request).toMatchObject({
    method: 'GET',
    url: 'https://platform.example/agent/tasks/task-1?historyLength=100',
    headers: { 'a2a-version': '1.0' },
  })
  expect(readBy(call, transcriptNamed('a2a/http-task-read.txt'))).toEqual({ ok: TURN })
})

test.each([
  ['rpc', 'GetTask', '1.0'],
  ['former', 'tasks/get', '0.3'],
] as const)('a turn is a task with its history, over JSON-RPC as %s', (binding, method, version) => {
  const call = turnOf(binding)
  expect(call.request).toMatchObject({
    method: 'POST',
    url: 'https://platform.example/agent',
    headers: { 'a2a-version': version },
  })
  expect(JSON.parse(textSent(call.request))).toMatchObject({
    method,
    params: { id: 'task-1', historyLength: 100 },
  })
  expect(readBy(call, transcriptNamed(`a2a/${binding}-task-read.txt`))).toEqual({ ok: TURN })
})

test('a task that the agent no longer knows, or that is of another conversation, has no messages', () => {
  const unknown = { jsonrpc: '2.0', id: 1, error: { code: -32001, message: 'Task not found' } }
  expect(turnOf('rpc').read(200, unknown, NO_HEADER)).toEqual({ ok: [] })
  const missing = {
    error: { code: 404, status: 'NOT_FOUND', details: [{ reason: 'TASK_NOT_FOUND' }] },
  }
  expect(turnOf('http').read(404, missing, NO_HEADER)).toEqual({ ok: [] })
  const other = turnOf('http', 'context-2')
  expect(readBy(other, transcriptNamed('a2a/http-task-read.txt'))).toEqual({ ok: [] })
})

test.each([
  [401, { message: 'no' }, 'agent_credentials'],
  [200, { error: { code: -32603, message: 'Internal error' } }, 'agent_error'],
  [200, { id: 'task-2', status: { state: 'TASK_STATE_COMPLETED' } }, 'agent_malformed'],
  [200, '<html>', 'agent_malformed'],
])('a reply %i %j is a failure', (status, body, reason) => {
  expect(turnOf('http').read(status, body, NO_HEADER)).toMatchObject({ failure: { reason } })
})

test('a question that waits is the answer so far', () => {
  const status = {
    state: 'TASK_STATE_INPUT_REQUIRED',
    message: { messageId: 'm2', role: 'ROLE_AGENT', parts: [{ text: 'For which year?' }] },
  }
  const history = [{ messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Write a report' }] }]
  const task = { id: 'task-1', contextId: 'context-1', status, history }
  expect(turnOf('http').read(200, task, NO_HEADER)).toMatchObject({
    ok: [
      { id: 'm1', text: 'Write a report' },
      { id: 'task-1', text: 'For which year?' },
    ],
  })
})

test('the protocol has no other calls', () => {
  expect(Object.keys(a2a.conversations?.(agentFor(a2a)) ?? {})).toEqual(['turn'])
})

test('the answer has the id of its task', () => {
  const state = a2a.start(callOf(agentFor(a2a)))
  const task = { id: 'task-1', contextId: 'context-1', status: { state: 'TASK_STATE_WORKING' } }
  a2a.translate({ event: undefined, data: JSON.stringify({ result: { task } }) }, state)
  expect(state.answerId).toBe('task-1')
})
