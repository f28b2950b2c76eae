import { expect, test } from 'vitest'
import type { AgentStatus } from '../../../generated/graphql.ts'
import {
  agentConcerns,
  failureConcerns,
  keyConcerns,
  processConcerns,
  quotaConcerns,
  slowConcerns,
  throttledConcerns,
} from './concerns.ts'

const RANGE = { from: '2026-11-22T00:00:00Z', to: '2026-11-22T10:00:00Z' }
const NOW = new Date('2026-11-22T10:00:00Z')
const calls = (calls: number, failedCalls: number) => ({ calls, failedCalls })

test('agents that do not answer are named with the cause, apart from those that answer badly, and one leads to its row', () => {
  const agent = (name: string, status: AgentStatus, statusReason: string | null = null) => ({
    ...{ id: name.toLowerCase(), name, status, statusReason, statusSince: null },
  })
  const agents = [
    agent('Well', 'AVAILABLE'),
    agent('Down', 'UNAVAILABLE', 'agent_unreachable'),
    agent('Busy', 'DEGRADED', 'agent_rate_limited'),
    agent('Odd', 'DEGRADED'),
  ]
  expect(agentConcerns({ agents })).toEqual([
    {
      ...{ kind: 'down', count: 1, names: ['Down (agent_unreachable)'], tone: 'danger' },
      way: { to: '/agents', search: { id: 'down' } },
    },
    {
      ...{ kind: 'degraded', count: 2, names: ['Busy (agent_rate_limited)', 'Odd'], tone: 'warn' },
      way: { to: '/agents' },
    },
  ])
  expect(agentConcerns({ agents: agents.slice(0, 1) })).toEqual([])
})

test('agents whose first texts come much later than before are named, and lead to their report, one to its slow calls', () => {
  const report = (times: Readonly<Record<string, number>>) => ({
    ...{ ...RANGE, timezone: 'UTC' },
    groups: Object.entries(times).map(([agentId, p95]) => ({
      ...{ agentId, agent: { name: agentId.toUpperCase() } },
      totals: { calls: 20, failedCalls: 0, firstChunkMs: { p95 } },
    })),
  })
  const [before, seconds] = [report({ a: 1_000, b: 3_000 }), (ms: number) => `${ms / 1_000} s`]
  expect(slowConcerns(report({ a: 4_000, b: 3_100, new: 9_000 }), before, seconds)).toMatchObject([
    {
      ...{ kind: 'slow', count: 1, names: ['A (1 s → 4 s)'], tone: 'warn' },
      way: { to: '/calls', search: { ...RANGE, agent: 'a', firstMs: 1_000 } },
    },
  ])
  expect(slowConcerns(report({ a: 4_000, b: 9_000 }), before, seconds)).toMatchObject([
    { count: 2, way: { to: '/usage', search: { ...RANGE, group: 'agent', show: 'firstChunk' } } },
  ])
  expect(slowConcerns(report({ a: 4_000 }), undefined, seconds)).toEqual([])
})

test('users at their quota are counted, and some of them named', () => {
  const nodes = ['mei', 'bob', 'eve'].map((username) => ({ id: username, username }))
  expect(quotaConcerns({ users: { totalCount: 12, nodes } })).toMatchObject([
    { count: 12, names: ['mei', 'bob', 'eve'], way: { to: '/users', search: { quota: 100 } } },
  ])
  expect(quotaConcerns({ users: { totalCount: 0, nodes: [] } })).toEqual([])
})

const key = (name: string, expiresAt: string, description = '') => ({
  id: name,
  name,
  expiresAt,
  description,
})
const pageInfo = { hasNextPage: false, endCursor: null }

test('keys that the console has made for itself may expire', () => {
  const made = key('playground dify', '2026-11-22T10:30:00Z', "Made by the console's playground")
  expect(keyConcerns({ apiKeys: { nodes: [made], pageInfo } }, NOW)).toEqual([])
  const nodes = [made, key('worker', '2026-12-01T10:00:00Z')]
  expect(keyConcerns({ apiKeys: { nodes, pageInfo } }, NOW)).toMatchObject([
    { count: 1, names: ['worker'], days: 30 },
  ])
})

test('keys are named that expire within 1, 7 and 30 days, and a longer time only if there are others', () => {
  const nodes = [
    key('now', '2026-11-23T09:59:59Z'),
    key('next', '2026-12-21T10:00:00Z'),
    key('last', '2026-12-22T09:00:00Z'),
  ]
  const more = { hasNextPage: true, endCursor: 'c' }
  expect(keyConcerns({ apiKeys: { nodes, pageInfo: more } }, NOW)).toEqual([
    {
      ...{ kind: 'expiring', tone: 'danger', count: 1, names: ['now'], days: 1, isMore: false },
      way: { to: '/keys', search: { expiring: '1d' } },
    },
    {
      ...{ kind: 'expiring', tone: 'warn', count: 3, names: ['now', 'next', 'last'], days: 30, isMore: true },
      way: { to: '/keys', search: { expiring: '30d' } },
    },
  ])
})

test('throttled are the keys that a limit has refused, and not what a part that is away has refused', () => {
  const row = (keyId: string | null, limit: string, count: number) => ({
    ...{ keyId, limit, count },
    key: keyId === null ? null : { id: keyId, name: `key ${keyId}` },
  })
  const rows = [row('1', 'chat', 2), row('2', 'quota', 5), row('1', 'upload', 9), row('3', 'database', 7)]
  const refusalCounts = [...rows, row(null, 'login', 3), row('4', '', 4)]
  expect(throttledConcerns({ refusalCounts }, RANGE.from)).toMatchObject([
    { count: 2, names: ['key 1', 'key 2'], way: { search: { from: RANGE.from } } },
  ])
  expect(throttledConcerns({ refusalCounts: rows.slice(0, 1) }, RANGE.from)).toMatchObject([
    { way: { search: { key: '1' } } },
  ])
  expect(throttledConcerns({ refusalCounts: rows.slice(3) }, RANGE.from)).toEqual([])
})

test('failures that are worse than before are a concern', () => {
  expect(failureConcerns(calls(100, 30), calls(100, 10), RANGE)).toMatchObject([
    { kind: 'failures', count: 30 },
  ])
  expect(failureConcerns(calls(100, 10), calls(100, 30), RANGE)).toEqual([])
  expect(failureConcerns(calls(9, 9), undefined, RANGE)).toEqual([])
})

test('a process that was lost today and two versions beside each other are concerns, and one that has stopped is none', () => {
  const times = { startedAt: '2026-11-22T08:00:00Z', lastSeenAt: '2026-11-22T09:00:00Z' }
  const process = { ...times, host: 'one', pid: 7, port: 8080, version: '1.0.0', concerns: [] }
  const live = { ...process, id: '1', state: 'LIVE' as const }
  const stopped = { ...process, id: '2', version: '0.9.0', state: 'STOPPED' as const }
  const lost = { ...process, id: '3', state: 'LOST' as const }
  const longAgo = { ...lost, id: '4', lastSeenAt: '2026-11-20T09:00:00Z' }
  expect(processConcerns({ gatewayProcesses: [live, stopped, longAgo] }, NOW)).toEqual([])
  const newer = { ...live, id: '5', version: '1.1.0' }
  expect(processConcerns({ gatewayProcesses: [live, newer, lost] }, NOW)).toMatchObject([
    { kind: 'lost', count: 1, names: ['one:8080, pid 7'] },
    { kind: 'versions', count: 2, names: ['1.0.0', '1.1.0'] },
  ])
})

test('processes that cannot write or answer are named, with the cause, and a lock with its holder', () => {
  const at = { startedAt: '2026-11-22T08:00:00Z', lastSeenAt: '2026-11-22T10:00:00Z', port: 8080 }
  const live = { ...at, state: 'LIVE' as const, host: 'one', version: '1.0.0' }
  const behind = { concern: 'LEDGER_BEHIND' as const, cause: null }
  const lock = 'process 17 (psql, its transaction open since 2026-11-22T09:59:00Z)'
  const refuses = { concern: 'UNAVAILABLE' as const, cause: 'database' }
  const gatewayProcesses = [
    { ...live, id: '1', pid: 1, concerns: [{ ...behind, blockedBy: lock }] },
    { ...live, id: '2', pid: 2, concerns: [{ ...refuses, blockedBy: lock }] },
    { ...live, id: '3', pid: 3, concerns: [{ ...behind, blockedBy: null }] },
    { ...live, id: '4', pid: 4, concerns: [{ concern: 'DISK_FULL' as const, cause: null, blockedBy: null }] },
  ]
  expect(processConcerns({ gatewayProcesses }, NOW)).toMatchObject([
    { kind: 'locked', count: 1, names: [lock], tone: 'danger', way: { to: '/processes' } },
    { kind: 'ledgerBehind', count: 1, names: ['one:8080, pid 3'] },
    { kind: 'unavailable', count: 1, names: ['one:8080, pid 2 (database)'] },
    { kind: 'diskFull', count: 1, names: ['one:8080, pid 4'] },
  ])
})
