import { beforeEach, describe, expect, test } from 'vitest'
import { Problem } from '#core/base/errors/errors.ts'
import {
  depsFor,
  FakeFiles,
  OWNER,
  requestWith,
  startUploadServer,
  type UploadServer,
} from '#core/calls/request/attach-files.test-support.ts'
import type { Conversations } from './conversations.ts'
import { createDerivedIds } from './derived-ids.ts'
import { enterConversation } from './enter-conversation.ts'

const CONTENT = Buffer.from('%PDF-1.7 report')

let files: FakeFiles
let server: UploadServer

beforeEach(async () => {
  files = new FakeFiles()
  server = await startUploadServer()
})

describe('a conversation that is entered with files within the request', () => {
  const conversations: Conversations = {
    turns: async () => [],
    remember: async () => undefined,
    enter: () => Promise.reject(new Error('openai agents have no mapping')),
    settle: () => Promise.reject(new Error('openai agents keep nothing')),
    unsettle: async () => undefined,
    stored: () => Promise.reject(new Error('openai agents keep nothing')),
    forget: async () => undefined,
    sweep: async () => 0,
  }

  function openWith(kept: Partial<Conversations> = {}) {
    const deps = {
      ...depsFor(files, server, CONTENT.length),
      conversations: { ...conversations, ...kept },
      derivedIds: createDerivedIds({ value: 'secret' }),
      keptCharactersMax: 1_000,
      sql: { query: () => Promise.reject(new Error('nothing is continued')) },
    }
    const request = requestWith([files.add('report.pdf', CONTENT)], files, server, { platform: 'openai' })
    const chat = { call: request.call, callId: 'call-1', ownerId: OWNER, conversationId: 'c' }
    const ending = { isOver: false, signal: new AbortController().signal }
    return { budget: deps.inlineBytes, open: async () => await enterConversation(deps, chat, ending) }
  }

  test('holds its memory until that is released', async () => {
    const { open, budget } = openWith()
    const { agentCall, memory } = await open()
    expect(JSON.stringify(agentCall.messages)).toContain(CONTENT.toString('base64'))
    await expect(open()).rejects.toMatchObject({ reason: 'unavailable' })
    memory?.release()
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
