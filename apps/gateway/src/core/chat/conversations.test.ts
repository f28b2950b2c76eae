import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '#core/database/database.ts'
import { openScratchDatabase } from '#core/database/scratch-database.ts'
import { systemRuntime } from '#core/runtime.ts'
import { type Conversations, createConversations } from './conversations.ts'

let database: Database
let conversations: Conversations

beforeAll(async () => {
  database = await openScratchDatabase()
  await database.migrate()
  conversations = createConversations({
    sql: database.sql,
    runtime: systemRuntime,
    bounds: { maxTurns: 3, maxCharacters: 20, retentionDays: 30 },
  })
})
afterAll(() => database.close())

const enter = (key: string, waitMs = 5_000) =>
  conversations.enter({
    key,
    ownerId: systemRuntime.newId(),
    agent: 'dify',
    callId: systemRuntime.newId(),
    waitMs,
    isOver: () => false,
  })

test('calls that race on a fresh id end in one conversation', async () => {
  const first = await enter('race')
  expect(first.platformId).toBeUndefined()
  const others = [enter('race'), enter('race')]
  await first.bind('platform-1')
  expect((await Promise.all(others)).map(({ platformId }) => platformId)).toEqual([
    'platform-1',
    'platform-1',
  ])
})

test('where the first call failed, the next one takes over', async () => {
  const first = await enter('takeover')
  const second = enter('takeover')
  await first.release()
  const next = await second
  expect(next.platformId).toBeUndefined()
  await next.bind('platform-2')
  expect((await enter('takeover')).platformId).toBe('platform-2')
})

test('a conversation that is still being made is busy after the wait', async () => {
  await enter('busy')
  await expect(enter('busy', 0)).rejects.toMatchObject({ reason: 'conversation_busy' })
})

test('a lost conversation stays lost', async () => {
  const mapping = await enter('lost')
  await mapping.bind('platform-3')
  await (await enter('lost')).lose()
  await expect(enter('lost')).rejects.toMatchObject({ reason: 'conversation_not_found' })
})

test('a late word of a replaced holder changes nothing', async () => {
  const late = await enter('late')
  await late.release()
  const holder = await enter('late')
  await late.bind('wrong')
  await holder.bind('right')
  expect((await enter('late')).platformId).toBe('right')
})

test('turns come back oldest first, within the bounds of number and characters', async () => {
  for (const [question, answer] of [
    ['q1', 'a1'],
    ['q2', 'a2'],
    ['q3', 'a3'],
    ['q4', 'a4'],
  ] as const) {
    await conversations.remember('turns', systemRuntime.newId(), question, answer)
  }
  expect((await conversations.turns('turns')).map(({ content }) => content)).toEqual([
    'q2',
    'a2',
    'q3',
    'a3',
    'q4',
    'a4',
  ])
  await conversations.remember('turns', systemRuntime.newId(), 'long'.repeat(3), 'a5')
  expect((await conversations.turns('turns')).map(({ content }) => content)).toEqual([
    'q4',
    'a4',
    'longlonglong',
    'a5',
  ])
})

test('any text comes back as it was', async () => {
  const odd = 'a\0b\ud800c\u2028😀\\"'
  await conversations.remember('odd', systemRuntime.newId(), odd, odd)
  expect((await conversations.turns('odd'))[1]?.content).toBe(odd)
})
