import { beforeEach, describe, expect, test } from 'vitest'
import { Problem } from '#core/errors.ts'
import {
  depsFor,
  FakeFiles,
  OWNER,
  requestWith,
  startUploadServer,
  type UploadServer,
} from './attach-files.test-support.ts'
import { type ConversationTurn, openTurn } from './conversation-turn.ts'
import type { Conversations } from './conversations.ts'
import { createDerivedIds } from './derived-ids.ts'

const CONTENT = Buffer.from('%PDF-1.7 report')

let files: FakeFiles
let server: UploadServer

beforeEach(async () => {
  files = new FakeFiles()
  server = await startUploadServer()
})

describe('a turn with files within its request', () => {
  const conversations: Conversations = {
    turns: async () => [],
    remember: async () => undefined,
    enter: () => Promise.reject(new Error('openai agents have no mapping')),
    forget: async () => undefined,
    sweep: async () => 0,
  }

  function openWith(kept: Partial<Conversations> = {}) {
    const deps = {
      ...depsFor(files, server, CONTENT.length),
      conversations: { ...conversations, ...kept },
      derivedIds: createDerivedIds(() => 'secret'),
      keptCharactersMax: 1_000,
    }
    const request = requestWith([files.add('report.pdf', CONTENT)], files, server, { platform: 'openai' })
    const turn = { ...request, callId: 'call-1', conversationId: 'c', isOver: () => false }
    const admitted = { ownerId: OWNER, keyId: 'key-1' }
    return { budget: deps.inlineBytes, open: async () => await openTurn(deps, { ...turn, admitted }) }
  }

  test.each<[string, (turn: ConversationTurn) => Promise<void> | undefined]>([
    ['complete', (turn) => turn.complete()],
    ['failed', (turn) => turn.failed({ reason: 'agent_error' })],
    ['cancelled', (turn) => turn.failed(undefined)],
  ])('holds its memory until it is %s', async (_what, end) => {
    const { open, budget } = openWith()
    const turn = await open()
    expect(JSON.stringify(turn.call.messages)).toContain(CONTENT.toString('base64'))
    await expect(open()).rejects.toMatchObject({ reason: 'unavailable' })
    await end(turn)
    budget.hold(CONTENT.length)
  })

  test('holds nothing if its conversation cannot be read', async () => {
    const turns = () => Promise.reject(new Problem('unavailable'))
    const { open, budget } = openWith({ turns })
    // The turns of a conversation are read if the client names it.
    await expect(open()).rejects.toMatchObject({ reason: 'unavailable' })
    budget.hold(CONTENT.length)
  })
})
