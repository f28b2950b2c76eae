import type { DetailEvent } from '@trunkline/sdk'
import { expect, test } from 'vitest'
import { foldSteps, sourcesOf } from './steps.ts'

const fold = (...events: DetailEvent[]) =>
  foldSteps(events).map(({ kind, name, state, elapsedMs, text, data }) => ({
    kind,
    name,
    state,
    elapsedMs,
    text,
    data,
  }))

test('the start and the end of a node are one step, also where only the end has an id', () => {
  expect(
    fold(
      { type: 'node_started', name: 'Start', status: 'running' },
      { type: 'node_started', name: 'Model', status: 'running' },
      { type: 'node_finished', id: 'n1', name: 'Start', status: 'succeeded', elapsed_ms: 2 },
      {
        type: 'node_finished',
        id: 'n2',
        name: 'Model',
        status: 'failed',
        elapsed_ms: 900,
        data: { model: 'm' },
      },
    ),
  ).toEqual([
    { kind: 'node', name: 'Start', state: 'done', elapsedMs: 2, text: '', data: [] },
    { kind: 'node', name: 'Model', state: 'failed', elapsedMs: 900, text: '', data: [{ model: 'm' }] },
  ])
})

test('a node that runs twice is two steps', () => {
  const run: DetailEvent[] = [
    { type: 'node_started', id: 'n', name: 'Loop' },
    { type: 'node_finished', id: 'n', name: 'Loop', status: 'succeeded' },
  ]
  expect(fold(...run, ...run)).toHaveLength(2)
})

test('a tool has its input, put together from pieces, and its result', () => {
  expect(
    fold(
      { type: 'tool_call', id: 't', name: 'search', data: { params: '' } },
      { type: 'tool_call', id: 't', data: { params_delta: '{"q":' } },
      { type: 'tool_call', id: 't', data: { params_delta: '"a"}' } },
      { type: 'tool_result', id: 't', data: { response: 'found' } },
    ),
  ).toEqual([
    {
      kind: 'tool',
      name: 'search',
      state: 'done',
      elapsedMs: undefined,
      text: '',
      data: [{ params: '' }, { params_delta: '{"q":"a"}' }, { response: 'found' }],
    },
  ])
})

test('two calls of one tool are two steps', () => {
  expect(
    fold(
      { type: 'tool_call', id: 'a', name: 'search' },
      { type: 'tool_call', id: 'b', name: 'search' },
      { type: 'tool_result', id: 'b', data: 1 },
    ).map(({ state }) => state),
  ).toEqual(['running', 'done'])
  expect(fold({ type: 'tool_call', name: 'search' }, { type: 'tool_call', name: 'search' })).toHaveLength(2)
})

test('fragments of reasoning are one text until something else happens', () => {
  expect(
    fold(
      { type: 'reasoning', data: { text: 'First, ' } },
      { type: 'reasoning', data: { text: 'think.' } },
      { type: 'other', name: 'break' },
      { type: 'reasoning', data: { text: 'Again.' } },
    ).map(({ text }) => text),
  ).toEqual(['First, think.', '', 'Again.'])
})

test('sources are read where their form is known', () => {
  const [known] = foldSteps([
    { type: 'sources', data: [{ document_name: 'a.pdf', content: 'Text', score: 0.9 }] },
  ])
  expect(known && sourcesOf(known)).toEqual([{ title: 'a.pdf', text: 'Text' }])
  const [unknown] = foldSteps([{ type: 'sources', data: '{"slices":[]}' }])
  expect(unknown && sourcesOf(unknown)).toBeUndefined()
})
