import { expect, test } from 'vitest'
import { Problem } from '#core/base/errors/errors.ts'
import { chatOf } from '#core/calls/chat.test-support.ts'
import type { FollowEnd, FollowOptions } from '#core/reply-log/reply-readers.ts'
import { followItems } from './kept-chats.ts'
import { keptItems } from './kept-items.ts'

const form = keptItems(chatOf([]), { detail: false })
const LOG = [
  form.opening ?? '',
  ...['one', 'two', 'three'].map((text) => form.encode({ type: 'text', text })),
  form.encode({ type: 'end', reason: 'stop' }),
]
const ENDED: FollowEnd = { kind: 'ended', end: { outcome: 'done', events: LOG.length }, last: LOG.length }

/** Passes on these events, of which the first has this number, and then ends in this way. */
function replyOf(texts: readonly string[], end: FollowEnd = ENDED) {
  return {
    async follow({ after, take }: FollowOptions): Promise<FollowEnd> {
      for (const text of texts.slice(after)) await take(text, 1)
      return end
    },
  }
}

async function collect(items: ReturnType<typeof followItems>) {
  const sequences: unknown[] = []
  try {
    for await (const { sequence } of items) sequences.push(sequence)
  } catch (error) {
    return { sequences, reason: (error as Problem).reason }
  }
  return { sequences }
}

test('each item has its number, also after a resume', async () => {
  expect(await collect(followItems(replyOf(LOG)))).toEqual({ sequences: [1, 2, 3, 4, 5] })
  expect(await collect(followItems(replyOf(LOG), 3))).toEqual({ sequences: [4, 5] })
  expect(await collect(followItems(replyOf([LOG.join('')])))).toEqual({ sequences: [1, 2, 3, 4, 5] })
})

test('a failure is the error after the items before it, also where they come as one text', async () => {
  const failed = [...LOG.slice(0, 2), form.fail(new Problem('agent_truncated'))]
  for (const texts of [failed, [failed.join('')]]) {
    expect(await collect(followItems(replyOf(texts)))).toEqual({
      sequences: [1, 2],
      reason: 'agent_truncated',
    })
  }
})

test.each([
  ['interrupted', { kind: 'ended', end: { outcome: 'interrupted', events: 2 }, last: 2 }],
  ['reply_gone', { kind: 'gone' }],
  ['draining', { kind: 'left' }],
] as const)('items whose rest is not to be had end with %s', async (reason, end) => {
  expect(await collect(followItems(replyOf(LOG.slice(0, 2), end)))).toEqual({ sequences: [1, 2], reason })
})

test('what the reader is refused for is the error of the items', async () => {
  const follow = () => Promise.reject(new Problem('key_revoked'))
  expect(await collect(followItems({ follow }))).toEqual({ sequences: [], reason: 'key_revoked' })
})

test('leaving ends the reader of a silent chat, without an error', async () => {
  const reading = Promise.withResolvers<AbortSignal>()
  const items = followItems({
    async follow({ signal }) {
      reading.resolve(signal)
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return { kind: 'left' }
    },
  })
  const next = items.next()
  const signal = await reading.promise
  await items.return?.()
  expect(signal.aborted).toBe(true)
  expect(await next).toEqual({ value: undefined, done: true })
})

test('a chat is not read further until its items have been taken', async () => {
  let taken = 0
  const items = followItems({
    async follow({ take }) {
      for (const text of LOG) {
        await take(text, 1)
        taken += 1
      }
      return ENDED
    },
  })
  await items.next()
  await new Promise(setImmediate)
  expect(taken).toBe(0)
  await items.next()
  await new Promise(setImmediate)
  expect(taken).toBe(1)
})
