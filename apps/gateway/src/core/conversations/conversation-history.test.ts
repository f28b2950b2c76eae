import { expect, test } from 'vitest'
import type { HelperCall, PlatformHistory, PlatformMessage } from '#core/agents/adapter.ts'
import { agentOf } from '#core/agents/transcripts.test-support.ts'
import type { AtPlatform } from './at-platform.ts'
import { readHistory } from './conversation-history.ts'
import type { Conversation } from './conversation-rows.ts'

/** The files of a message of a conversation whose platform has these. */
async function shown(files: PlatformMessage['files']) {
  const agent = agentOf('dify', { baseUrl: 'https://dify.example.com/v1' })
  const items: PlatformHistory['items'] = [{ id: 'm', role: 'assistant', text: '', files }]
  const history = (): HelperCall<PlatformHistory> => ({
    request: { method: 'GET', url: agent.baseUrl, headers: {} },
    read: () => ({ ok: { items } }),
  })
  const atPlatform = {
    find: async () => ({ agent, place: { agent, calls: { history }, conversation: {} } }),
    ask: async () => ({ items }),
  } as unknown as AtPlatform
  const read = await readHistory({ sql: { query: async () => [] }, atPlatform }, {} as Conversation, {
    limit: 20,
  })
  return read.items[0]?.files
}

test('the files of a conversation have neither credentials nor private addresses, and names that disguise nothing', async () => {
  expect(
    await shown([
      { url: 'https://ada:secret@cdn.example.com/1', name: 'invoice\u202egpj.exe' },
      { url: 'http://10.0.0.5:9000/chart.png', name: 'chart.png' },
      { url: '/files/2' },
    ]),
  ).toEqual([
    { url: 'https://cdn.example.com/1', name: 'invoicegpj.exe' },
    { url: 'https://dify.example.com/files/2' },
  ])
})
