import { expect, test } from 'vitest'
import { featuresOf } from './agent-features.ts'
import { agentOf } from './transcripts.test-support.ts'

const conversationsOf = (platform: string, options?: { readonly mode: string }) =>
  featuresOf(agentOf(platform, options === undefined ? {} : { options })).conversations

test.each([
  ['dify', undefined, true, true, true],
  ['dify', { mode: 'completion' }, false, false, false],
  ['dify', { mode: 'workflow' }, false, false, false],
  ['fastgpt', undefined, true, true, true],
  ['coze', undefined, true, true, true],
  ['hiagent', undefined, true, true, true],
  ['langgraph', undefined, true, true, true],
  // Read task by task, and never deleted.
  ['a2a', undefined, true, true, false],
  // Kept by the gateway itself.
  ['openai', undefined, true, true, true],
])('conversations of %s %j: history %s, names %s, deletion %s, and ratings', (platform, options, ...has) => {
  const [history, rename, deletes] = has
  expect(conversationsOf(platform, options)).toEqual({ history, rename, delete: deletes, feedback: true })
})
