import {
  type ExecutionArgs,
  GraphQLInt,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  parse,
} from 'graphql'
import { createYoga, isAsyncIterable } from 'graphql-yoga'
import { expect, test, vi } from 'vitest'
import { resultText } from './event-streams.ts'
import { itemOrThrow } from './item-or-error.ts'
import type { Results } from './results.ts'
import { SharedResult, useSharedUpdates } from './shared-updates-plugin.ts'

/** What the subscriptions get, one after the other. */
let endings: readonly unknown[] = []
const executed = vi.fn()

const Update = new GraphQLObjectType({
  name: 'UsageUpdate',
  fields: {
    calls: {
      type: GraphQLInt,
      resolve: ({ calls }: { calls: number }) => {
        executed()
        return calls
      },
    },
    name: { type: GraphQLString, args: { of: { type: GraphQLString } }, resolve: (_update, { of }) => of },
  },
})

async function* source() {
  yield* endings
}

const field = { type: Update, subscribe: source, resolve: itemOrThrow }
const schema = new GraphQLSchema({
  query: new GraphQLObjectType({ name: 'Query', fields: { me: { type: GraphQLString } } }),
  subscription: new GraphQLObjectType({ name: 'Subscription', fields: { usageUpdated: field, chat: field } }),
})
const yoga = createYoga({ schema, plugins: [useSharedUpdates()], logging: false })

async function textsOf(document: ReturnType<typeof parse>, more: Partial<ExecutionArgs> = {}) {
  const { subscribe } = yoga.getEnveloped({})
  const results: Results = await subscribe({ schema, document, contextValue: {}, ...more })
  if (!isAsyncIterable(results)) throw new Error(JSON.stringify(results))
  const texts: { text: string; isShared: boolean }[] = []
  for await (const result of results) {
    texts.push({ text: resultText(result), isShared: result instanceof SharedResult })
  }
  return texts
}

const DOCUMENT = parse('subscription { usageUpdated { calls } }')

test('an update is executed once for all subscribers with the same document', async () => {
  endings = [{ item: { calls: 1 } }, { item: { calls: 2 } }]
  executed.mockClear()
  const [first, second] = [await textsOf(DOCUMENT), await textsOf(DOCUMENT)]
  expect(first).toEqual(
    [1, 2].map((calls) => ({ text: `{"data":{"usageUpdated":{"calls":${calls}}}}`, isShared: true })),
  )
  expect(second).toEqual(first)
  expect(executed).toHaveBeenCalledTimes(2)
})

test('another document, another operation of it and other variables have results of their own', async () => {
  endings = [{ item: { calls: 1 } }]
  const named = parse(
    'subscription A($of: String) { usageUpdated { name(of: $of) } } subscription B { b: usageUpdated { calls } }',
  )
  const textOf = async (more: Partial<ExecutionArgs>) => (await textsOf(named, more))[0]?.text
  expect(await textOf({ operationName: 'A', variableValues: { of: 'one' } })).toContain('"name":"one"')
  expect(await textOf({ operationName: 'A', variableValues: { of: 'two' } })).toContain('"name":"two"')
  expect(await textOf({ operationName: 'A' })).toContain('"name":null')
  expect(await textOf({ operationName: 'B' })).toBe('{"data":{"b":{"calls":1}}}')
  expect((await textsOf(DOCUMENT))[0]?.text).toBe('{"data":{"usageUpdated":{"calls":1}}}')
})

test('the error with which a subscription ends is its own, and other subscriptions are not shared', async () => {
  endings = [{ item: { calls: 1 } }, { error: new Error('the end') }]
  const [, end] = await textsOf(DOCUMENT)
  expect(end).toMatchObject({ text: expect.stringContaining('{"usageUpdated":null}'), isShared: false })
  const chat = await textsOf(parse('subscription { chat { calls } }'))
  expect(chat[0]).toEqual({ text: '{"data":{"chat":{"calls":1}}}', isShared: false })
})
