import fc from 'fast-check'
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

/** Reads the whole conversation by pages of so many messages, at a platform whose pages have these sizes or fewer. */
async function pagesOf(said: readonly PlatformMessage[], limit: number, ownPage: (asked: number) => number) {
  const agent = agentOf('dify', { baseUrl: 'https://dify.example.com/v1' })
  const page = ({ limit: asked, before }: { limit: number; before?: string }): PlatformHistory => {
    const end = before === undefined ? said.length : Number(before)
    const begin = Math.max(end - ownPage(asked), 0)
    return { items: said.slice(begin, end), ...(begin > 0 && { before: String(begin) }) }
  }
  const history = (_conversation: unknown, asked: { limit: number; before?: string }) => page(asked)
  const atPlatform = {
    find: async () => ({ agent, place: { agent, calls: { history }, conversation: {} } }),
    ask: async (_place: unknown, asked: PlatformHistory) => asked,
  } as unknown as AtPlatform
  const pages: string[][] = []
  let before: string | null | undefined
  while (before !== null) {
    const asked = { limit, ...(before !== undefined && { before }) }
    const read = await readHistory({ sql: { query: async () => [] }, atPlatform }, {} as Conversation, asked)
    pages.push(read.items.map(({ id }) => id))
    before = read.before
  }
  return pages
}

test('a page has exactly as many messages as were asked for, however many the platform gives', async () => {
  const count = fc.integer({ min: 1, max: 40 })
  await fc.assert(
    fc.asyncProperty(
      count,
      fc.integer({ min: 1, max: 9 }),
      count,
      fc.boolean(),
      async (all, limit, most, isByTurn) => {
        const said = Array.from(
          { length: all },
          (_, n): PlatformMessage => ({ id: `m:${n}`, role: 'user', text: '', files: [] }),
        )
        // Ten pages of the platform are read for one of ours.
        const sizes = (asked: number) =>
          Math.max(isByTurn ? Math.ceil(asked / 2) * 2 : Math.min(asked, most), Math.ceil(limit / 10))
        const pages = await pagesOf(said, limit, sizes)
        expect(pages.flat().toSorted()).toEqual(said.map(({ id }) => id).toSorted())
        for (const page of pages.slice(0, -1)) expect(page.length).toBe(limit)
      },
    ),
  )
})
