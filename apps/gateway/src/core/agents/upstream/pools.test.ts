import { expect, test } from 'vitest'
import { agentOf } from '#core/agents/transcripts.test-support.ts'
import { createPools } from './pools.ts'

test('agents share a pool if their connections are made in the same way', async () => {
  const pools = createPools()
  const agent = agentOf('dify')
  const pool = pools.of(agent)
  expect(pools.of(agentOf('dify', { apiKey: 'another' }))).toBe(pool)
  const connection = { names: 'dns' } as const
  for (const other of [
    agentOf('dify', { timeouts: { ...agent.timeouts, connectMs: 2 } }),
    agentOf('dify', { connection: { names: 'system' } }),
    agentOf('dify', { connection: { ...connection, proxy: 'http://proxy.invalid' } }),
  ]) {
    expect(pools.of(other)).not.toBe(pool)
  }
  await pools.destroy()
})

test('a pool that no agent of the configuration uses is closed, and made again for one that still does', async () => {
  const pools = createPools()
  const former = agentOf('dify')
  const current = agentOf('dify', { connection: { names: 'system' } })
  const before = pools.of(former)
  const inUse = pools.of(current)
  pools.keepFor([current])
  expect(pools.of(current)).toBe(inUse)
  expect(pools.of(former)).not.toBe(before)
  expect([Reflect.get(before, 'closed'), Reflect.get(inUse, 'closed')]).toEqual([true, false])
  await pools.destroy()
})
