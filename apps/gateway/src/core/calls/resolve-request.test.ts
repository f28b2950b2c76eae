import { expect, test } from 'vitest'
import { Problem } from '#core/base/errors/errors.ts'
import { requestOf } from './request/chat-request.test-support.ts'
import { type ResolveDeps, resolveRequest } from './resolve-request.ts'
import { agentWith } from './routing/routes.test-support.ts'

/** Two agents, of which the key may use one, and a database that knows these turns. */
function depsWith({ turns = 'none', boundTo }: { turns?: 'none' | 'some'; boundTo?: string } = {}) {
  const agents = [agentWith([{ id: 'main' }]), agentWith([{ id: 'main' }], { id: 'coze' })]
  const asked: string[] = []
  const deps: ResolveDeps = {
    catalog: { current: () => new Map(agents.map((agent) => [agent.id, agent])) },
    files: { isIssued: () => false },
    authentication: {
      endUserHeader: boundTo === undefined ? undefined : 'x-end-user',
      boundEndUser: async () => boundTo,
      authenticate: async (credential) => {
        asked.push(credential)
        if (credential === 'tl_unknown') throw new Problem('key_unknown')
        return { userId: 'owner-1', via: { kind: 'key', keyId: 'key-1', allowedAgents: ['dify'] } } as never
      },
    },
    sql: { query: async () => [{ turns }] as never },
  }
  return { deps, asked }
}

test('a call that can be resolved asks for no key, which its admission reads', async () => {
  const { deps, asked } = depsWith()
  expect((await resolveRequest(deps, requestOf())).agent.id).toBe('dify')
  expect(asked).toEqual([])
})

test('a refusal names only agents that the key may use, and whose call it was', async () => {
  const refusal = await resolveRequest(depsWith().deps, requestOf({ agent: 'nobody' })).catch(
    (error) => error,
  )
  expect([refusal.reason, refusal.detail, refusal.refused]).toEqual([
    'unknown_agent',
    'agent: expected one of dify.',
    expect.objectContaining({ keyId: 'key-1', ownerId: 'owner-1' }),
  ])
})

test('a caller without a valid key learns nothing else', async () => {
  const request = requestOf({ agent: 'nobody', credential: 'tl_unknown' })
  await expect(resolveRequest(depsWith().deps, request)).rejects.toMatchObject({ reason: 'key_unknown' })
})

test('a call of a bound request is its end user’s, whatever the request says', async () => {
  const call = await resolveRequest(depsWith({ boundTo: 'ada' }).deps, requestOf({ endUser: 'eve' }))
  expect([call.endUser, call.boundTo]).toEqual(['ada', 'ada'])
})

test.each([
  ['none', 'User: one\n\nAssistant: two\n\nUser: three'],
  ['some', 'three'],
] as const)('of a named conversation with turns: %s, the agent gets %j', async (turns, query) => {
  const messages = [
    { role: 'user', content: 'one' },
    { role: 'assistant', content: 'two' },
    { role: 'user', content: 'three' },
  ]
  const request = requestOf({ face: 'openai', conversationId: 'c', messages })
  const { asks } = await resolveRequest(depsWith({ turns }).deps, request)
  expect(asks).toMatchObject({ kind: 'question', query })
})
