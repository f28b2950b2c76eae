import { InMemoryCache } from '@apollo/client/cache'
import { parse } from 'graphql'
import { expect, test } from 'vitest'

/* Apollo's cache with its default settings: an object is known by its type and its field `id`, others belong to their parent. */

test('two agents may have an app with the same id', () => {
  const query = parse(`{ agents { __typename id apps { __typename appId name } } }`)
  const agent = (id: string, name: string) => ({
    __typename: 'Agent',
    id,
    apps: [{ __typename: 'AgentApp', appId: 'help', name }],
  })
  const data = { agents: [agent('dify', 'Help desk'), agent('coze', 'Help for developers')] }
  expect(readBack(query, data)).toEqual(data)
})

test('the steps of two tools of one reply stay two, and so do a call of a tool and its result', () => {
  const query = parse(`{ chat { __typename details { __typename ... on Detail { stepId name raw } } } }`)
  const step = (__typename: string, stepId: string, name: string, raw: string) => ({
    __typename,
    stepId,
    name,
    raw,
  })
  const details = [
    step('ToolCall', 'call', 'search', 'of the first'),
    step('ToolCall', 'call', 'weather', 'of the second'),
    step('ToolResult', 'call', 'search', 'a result'),
  ]
  const data = { chat: { __typename: 'ChatReply', details } }
  expect(readBack(query, data)).toEqual(data)
})

function readBack(query: ReturnType<typeof parse>, data: Record<string, unknown>): unknown {
  const types = ['NodeStarted', 'NodeFinished', 'ToolCall', 'ToolResult']
  const cache = new InMemoryCache({ possibleTypes: { Detail: types } })
  cache.writeQuery({ query, data })
  return cache.readQuery({ query })
}
