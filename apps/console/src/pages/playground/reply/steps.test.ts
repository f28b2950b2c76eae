import type { DetailEvent } from '@trunkline/sdk'
import { expect, test } from 'vitest'
import { foldSteps } from './steps.ts'

const fold = (...events: DetailEvent[]) =>
  foldSteps(events).map(({ kind, name, state, elapsedMs, raw }) => ({ kind, name, state, elapsedMs, raw }))

test('the start and the end of a node are one step, also where only the end has an id', () => {
  expect(
    fold(
      { type: 'node_started', name: 'Start', status: 'running', data: {} },
      { type: 'node_started', name: 'Model', status: 'running', data: {} },
      { type: 'node_finished', id: 'n1', name: 'Start', status: 'succeeded', elapsed_ms: 2, data: {} },
      {
        type: 'node_finished',
        id: 'n2',
        name: 'Model',
        status: 'failed',
        elapsed_ms: 900,
        data: { node_type: 'llm' },
        raw: { model: 'm' },
      },
    ),
  ).toEqual([
    { kind: 'node', name: 'Start', state: 'done', elapsedMs: 2, raw: [] },
    { kind: 'node', name: 'Model', state: 'failed', elapsedMs: 900, raw: [{ model: 'm' }] },
  ])
})

test('a node that runs twice is two steps', () => {
  const run: DetailEvent[] = [
    { type: 'node_started', id: 'n', name: 'Loop', data: {} },
    { type: 'node_finished', id: 'n', name: 'Loop', status: 'succeeded', data: {} },
  ]
  expect(fold(...run, ...run)).toHaveLength(2)
})

test('a tool has its input, put together from pieces, and its result', () => {
  expect(
    foldSteps([
      { type: 'tool_call', id: 't', name: 'search', data: {}, raw: { functionName: 'find' } },
      { type: 'tool_call', id: 't', data: { arguments_delta: '{"q":' } },
      { type: 'tool_call', id: 't', data: { arguments_delta: '"a"}' } },
      { type: 'tool_result', id: 't', data: { output: 'found' } },
    ]),
  ).toMatchObject([
    {
      kind: 'tool',
      name: 'search',
      state: 'done',
      input: '{"q":"a"}',
      output: 'found',
      raw: [{ functionName: 'find' }],
    },
  ])
})

test('two calls of one tool are two steps', () => {
  expect(
    fold(
      { type: 'tool_call', id: 'a', name: 'search', data: {} },
      { type: 'tool_call', id: 'b', name: 'search', data: {} },
      { type: 'tool_result', id: 'b', data: { output: '1' } },
    ).map(({ state }) => state),
  ).toEqual(['running', 'done'])
  const call: DetailEvent = { type: 'tool_call', name: 'search', data: {} }
  expect(fold(call, call)).toHaveLength(2)
})

test('fragments of reasoning are one text until something else happens', () => {
  expect(
    foldSteps([
      { type: 'reasoning', data: { text: 'First, ' } },
      { type: 'reasoning', data: { text: 'think.' } },
      { type: 'other', name: 'break', data: {} },
      { type: 'reasoning', data: { text: 'Again.' } },
    ]).map(({ text }) => text),
  ).toEqual(['First, think.', '', 'Again.'])
})

test('a step has the documents, the variables, the question and the file that its event carries', () => {
  const items = [{ title: 'a.pdf', text: 'Text' }]
  expect(
    foldSteps([
      { type: 'sources', data: { items }, raw: { score: [0.9] } },
      { type: 'variables', data: { values: { city: 'Hangzhou' } } },
      { type: 'interaction', data: { question: 'Which?', options: ['a', 'b'], form: [{ label: 'Name' }] } },
      { type: 'file', name: 'a.png', data: { type: 'image', url: 'https://files.example.com/a.png' } },
    ]),
  ).toMatchObject([
    { kind: 'sources', sources: items, raw: [{ score: [0.9] }] },
    { kind: 'variables', values: [{ city: 'Hangzhou' }] },
    { kind: 'interaction', text: 'Which?\n- a\n- b', values: [[{ label: 'Name' }]] },
    { kind: 'file', name: 'a.png', text: 'https://files.example.com/a.png' },
  ])
})
