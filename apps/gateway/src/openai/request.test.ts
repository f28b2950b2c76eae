import { expect, test } from 'vitest'
import { unsupportedParameters } from './request.ts'
import type { CompletionRequest } from './schemas.ts'

const unsupportedIn = (more: object) =>
  unsupportedParameters({
    model: 'dify',
    messages: [{ role: 'user', content: 'Hello' }],
    ...more,
  } as CompletionRequest)

const tools = [{ type: 'function', function: { name: 'f' } }]
const functions = [{ name: 'f' }]

test.each([
  [{ tools: [] }],
  [{ tools: null, response_format: null }],
  [{ tools, tool_choice: 'none' }],
  [{ functions, function_call: 'none' }],
  [{ response_format: { type: 'text' } }],
  [{ modalities: ['text'] }],
  [{ logprobs: false }],
])('the parameters %j are supported', (more) => {
  expect(unsupportedIn(more)).toEqual([])
})

test.each([
  [{ tools }, ['tools']],
  [{ tools, tool_choice: 'auto' }, ['tools']],
  [{ tools, function_call: 'none' }, ['tools']],
  [{ functions, tool_choice: 'none' }, ['functions']],
  [{ functions, function_call: 'auto' }, ['functions', 'function_call']],
  [{ response_format: { type: 'json_object' } }, ['response_format']],
])('of the parameters %j the unsupported ones are named', (more, names) => {
  expect(unsupportedIn(more)).toEqual(names)
})
