import { expect } from 'vitest'
import type { At, Check } from '../at.ts'
import { replayOf } from '../replay.ts'
import { fresh } from '../stage.ts'

const MY_NAME = 'What is my name?'
const NOT_TOLD = 'You have not told me your name in this conversation.'

export const CONVERSATIONS = {
  async 'TALK-01'(at) {
    requireContext(at)
    const [chat, name] = [fresh(), fresh()]
    await at.ask({ query: `My name is ${name}.`, chat })
    expect((await at.ask({ query: MY_NAME, chat, stream: true })).text).toContain(`Your name is ${name};`)
    // The third turn: nothing that the platform keeps was sent along once more.
    expect((await at.ask({ query: MY_NAME, chat })).text).toContain('This is turn 3 of our conversation')
  },

  async 'TALK-02'(at) {
    requireContext(at)
    for (const stream of [false, true]) {
      const [chat, name] = [fresh(), fresh()]
      const told = { role: 'user', content: `My name is ${name}.` }
      const talk = { face: 'openai', chat, stream } as const
      const { text } = await at.ask({ ...talk, query: told.content })
      const before = [told, { role: 'assistant', content: text }]
      const second = await at.ask({ ...talk, query: MY_NAME, before })
      expect(second.text).toContain(`Your name is ${name};`)
      expect(second.text).toContain('This is turn 2 of our conversation')
      const times = at.subject.context === 'gateway' ? 2 : 1
      expect(at.requestsWith(told.content)).toHaveLength(times)
    }
  },

  async 'TALK-03'(at) {
    const [system, early] = [fresh(), fresh()]
    const before = [
      { role: 'system', content: system },
      { role: 'user', content: early },
      { role: 'assistant', content: 'So be it.' },
    ]
    const { status } = await at.ask({ face: 'openai', query: 'Hello', chat: '', before })
    expect(status).toBe(200)
    const [request, ...more] = at.requestsWith(early)
    expect(more).toEqual([])
    expect(JSON.stringify(request?.body)).toMatch(new RegExp(`${system}.*${early}.*So be it.*Hello`))
  },

  async 'TALK-04'(at) {
    requireContext(at)
    const [chat, name] = [fresh(), fresh()]
    await at.ask({ query: `My name is ${name}.`, chat })
    const { text } = await at.ask({
      query: MY_NAME,
      chat,
      files: ['https://files.example.com/report.pdf'],
    })
    expect(text).toContain(`Your name is ${name};`)
    expect(text).toContain('report.pdf')
  },

  async 'TALK-05'(at) {
    if (at.subject.platform === 'hiagent') {
      const { status, reason } = await at.ask({ query: 'Hello', chat: '' })
      expect([status, reason]).toEqual([400, 'conversation_id_required'])
    }
    const name = fresh()
    const face = at.subject.platform === 'hiagent' ? 'openai' : 'rest'
    const first = await at.ask({ face, query: `My name is ${name}.`, chat: '' })
    const chat = first.headers.get('x-conversation-id') ?? ''
    expect(chat).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/)
    if (at.subject.context === 'none') return
    expect((await at.ask({ query: MY_NAME, chat })).text).toContain(`Your name is ${name};`)
  },

  async 'TALK-06'(at) {
    const [chat, name] = [fresh(), fresh()]
    const mine = { chat, user: 'ann', variant: 'apps', app: 'one' } as const
    await at.ask({ ...mine, query: `My name is ${name}.` })
    const others = [
      { user: 'bob' },
      { owner: 'theirs' },
      { app: 'two' },
      { variant: 'twin' },
      { variant: 'plain', app: at.subject.appId },
    ] as const
    for (const other of others) {
      const { text } = await at.ask({ ...mine, ...other, query: MY_NAME })
      expect(text, JSON.stringify(other)).toContain(NOT_TOLD)
      expect(text).not.toContain(name)
    }
  },

  async 'TALK-07'(at) {
    requireContext(at)
    if (at.subject.context === 'gateway') at.exempt('the platform has no id that could be guessed')
    const { chat, name, platformId } = await secondTurn(at)
    expect(platformId).toMatch(/^[\w-]{18,}$/)
    expect(platformId).not.toBe(chat)
    for (const other of [{ owner: 'theirs' }, { user: 'bob' }, {}] as const) {
      const { text } = await at.ask({ query: MY_NAME, chat: String(platformId), ...other })
      expect(text).toContain(NOT_TOLD)
      expect(text).not.toContain(name)
    }
  },

  async 'TALK-08'(at) {
    requireContext(at)
    if (at.subject.context === 'gateway') at.exempt('the platform has no conversations')
    const [chat, marker] = [fresh(), fresh()]
    const race = Array.from({ length: 10 }, () => at.ask({ query: `Hello ${marker}`, chat }))
    const replies = await Promise.all(race)
    const refused = replies.filter(({ status }) => status !== 200)
    expect(refused.length).toBeLessThan(at.subject.isExclusive ? 10 : 1)
    for (const { reason } of refused) expect(reason).toBe(at.subject.refusals.busy ?? 'conversation_busy')

    const { text } = await at.ask({ query: MY_NAME, chat })
    expect(text).toContain(`This is turn ${replies.length - refused.length + 1} of our conversation`)
    const named = at.requestsWith(marker).map(at.subject.conversationOf)
    expect(new Set(named.filter((id) => id !== undefined)).size).toBe(1)
    expect(named.filter((id) => id === undefined).length).toBeLessThan(2)
  },

  async 'TALK-09'(at) {
    if (at.subject.context !== 'platform') at.exempt('no call waits for another one to get the conversation')
    const [chat, marker] = [fresh(), fresh()]
    // HiAgent's conversation is made by a call of its own, which no word in a query reaches.
    const isHiAgent = at.subject.platform === 'hiagent'
    const talk = { chat, variant: isHiAgent ? 'replay' : 'plain' } as const
    const query = isHiAgent ? replayOf('hiagent/stream-v2.txt', 'whole', marker) : `Hello ${marker}`
    const winner = at.ask(
      isHiAgent
        ? { ...talk, query, variables: { create: marker } }
        : { ...talk, query: `sandbox:slow-first=150 sandbox:html ${query}` },
    )
    await (isHiAgent
      ? at.stage.replay.creating(marker)
      : at.seen.waitFor(() => at.requestsWith(marker).length > 0))
    const next = at.ask({ ...talk, query })
    expect((await winner).status).toBe(502)
    expect((await next).status).toBe(200)
    expect((await at.ask({ ...talk, query })).status).toBe(200)
  },

  async 'TALK-10'(at) {
    if (at.subject.context !== 'platform') at.exempt('the platform takes any id for a new conversation')
    const { front, sandbox, elsewhere } = at.stage
    const { name, platform } = at.subject
    const [chat, marker] = [fresh(), fresh()]
    const talk = { chat, variant: 'moving' } as const
    const lost = [404, 'conversation_not_found']
    expect((await at.ask({ ...talk, query: 'Hello' })).status).toBe(200)

    front.put(`${name}-moving`, elsewhere.agents[platform].baseUrl)
    const first = await at.ask({ ...talk, query: MY_NAME, stream: true })
    expect([first.status, first.reason]).toEqual(lost)

    front.put(`${name}-moving`, sandbox.agents[platform].baseUrl)
    for (const face of ['rest', 'openai'] as const) {
      const again = await at.ask({ ...talk, face, query: `Hello ${marker}` })
      expect([again.status, again.reason]).toEqual(lost)
    }
    expect(at.requestsWith(marker)).toEqual([])
  },

  async 'TALK-11'(at) {
    if (!at.subject.isExclusive) at.exempt('it runs side by side what is asked in one conversation')
    if (at.subject.refusals.busy !== undefined) at.exempt('its refusal says nothing of why')
    const chat = fresh()
    await at.ask({ query: 'Hello', chat })
    const opened = await at.open({ query: 'sandbox:slow=20 sandbox:long=1000', chat })
    await opened.until(/网关/)
    const { status, reason, headers } = await at.ask({ query: 'Hello', chat })
    opened.leave()
    expect([status, reason]).toEqual([409, 'conversation_busy'])
    expect(headers.get('x-should-retry')).toBe('true')
  },
} satisfies Record<string, Check>

function requireContext({ subject, exempt }: At): void {
  if (subject.context === 'none') exempt('such an app keeps no conversation')
}

/** A conversation of two turns, of which the second one names the platform's id of it. */
async function secondTurn(at: At) {
  const [chat, name, marker] = [fresh(), fresh(), fresh()]
  await at.ask({ query: `My name is ${name}.`, chat })
  await at.ask({ query: `Hello ${marker}`, chat })
  const [request] = at.requestsWith(marker)
  return { chat, name, platformId: request && at.subject.conversationOf(request) }
}
