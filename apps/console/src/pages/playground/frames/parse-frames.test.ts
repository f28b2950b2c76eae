import { expect, test } from 'vitest'
import { exchangeOf } from './exchange.ts'
import { parseFrames } from './parse-frames.ts'

test('each frame has its id, and what it adds', () => {
  const frames = [
    'data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi "}}]}\nid: 1',
    'data: {"id":"c","choices":[],"detail":{"type":"node_started","name":"Model","data":{}}}\r\nid: 2',
    'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\nid: 3',
    'data: {"error":{"reason":"agent_error","message":"It failed."}}\nid: 4',
    ': a comment',
    'data: {"broken',
    'data: [DONE]\nid: 5',
  ]
  expect(parseFrames(`${frames.join('\n\n')}\n\n`).map(({ id, kind, delta }) => [id, kind, delta])).toEqual([
    ['1', 'text', 'Hi '],
    ['2', 'detail', 'node_started · Model'],
    ['3', 'end', 'stop'],
    ['4', 'error', 'agent_error'],
    [undefined, 'other', ': a comment'],
    [undefined, 'other', '{"broken'],
    ['5', 'done', '[DONE]'],
  ])
})

test('hostile data leads to rows, not to failures', () => {
  const hostile = [
    'data: null',
    'data: 1',
    'data: {"choices":1}',
    'data: {"choices":[null]}',
    'data: {"error":1}',
  ]
  expect(parseFrames(hostile.join('\n\n'))).toHaveLength(5)
})

test('of credentials only the kind is kept', () => {
  const headers = { authorization: 'Bearer tl_secret', agent: 'dify' }
  const request = new Request('https://gateway.example.com/api/v1/chat?a=1', { method: 'POST', headers })
  const exchange = exchangeOf(request, new Response('', { status: 201, headers: { 'x-call-id': 'c1' } }))
  expect(exchange).toMatchObject({ method: 'POST', path: '/api/v1/chat?a=1', status: 201 })
  expect(Object.fromEntries(exchange.requestHeaders)).toEqual({
    agent: 'dify',
    authorization: 'Bearer ••••••••',
  })
  expect(Object.fromEntries(exchange.responseHeaders)['x-call-id']).toBe('c1')
  expect(JSON.stringify(exchange)).not.toContain('tl_secret')
})
