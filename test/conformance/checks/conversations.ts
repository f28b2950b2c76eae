import { expect } from 'vitest'
import { emulatorOf, fresh } from '../gateway-with-emulators.ts'
import { replayOf } from '../replay.ts'
import type { Check, Trial } from '../trial.ts'

const MY_NAME = 'What is my name?'
const NOT_TOLD = 'You have not told me your name in this conversation.'

export const CONVERSATIONS = {
  async 'TALK-01'(trial) {
    requireContext(trial)
    const [chat, name] = [fresh(), fresh()]
    await trial.ask({ query: `My name is ${name}.`, chat })
    expect((await trial.ask({ query: MY_NAME, chat, stream: true })).text).toContain(`Your name is ${name};`)
    // In the third turn, no earlier turn may be sent again.
    expect((await trial.ask({ query: MY_NAME, chat })).text).toContain('This is turn 3 of our conversation')
  },

  async 'TALK-02'(trial) {
    requireContext(trial)
    for (const stream of [false, true]) {
      const [chat, name] = [fresh(), fresh()]
      const first = { role: 'user', content: `My name is ${name}.` }
      const talk = { face: 'openai', chat, stream } as const
      const { text } = await trial.ask({ ...talk, query: first.content })
      const before = [first, { role: 'assistant', content: text }]
      const second = await trial.ask({ ...talk, query: MY_NAME, before })
      expect(second.text).toContain(`Your name is ${name};`)
      expect(second.text).toContain('This is turn 2 of our conversation')
      const times = trial.dialect.context === 'gateway' ? 2 : 1
      expect(trial.requestsWith(first.content)).toHaveLength(times)
    }
  },

  async 'TALK-03'(trial) {
    const { context } = trial.dialect
    for (const chat of ['', fresh()]) {
      const [system, early] = [fresh(), fresh()]
      const before = [
        { role: 'system', content: system },
        { role: 'user', content: early },
        { role: 'assistant', content: 'So be it.' },
      ]
      const talk = { face: 'openai', chat, before } as const
      const first = await trial.ask({ ...talk, query: 'Hello' })
      expect([first.status, first.headers.get('x-history')]).toEqual([200, null])
      const [request, ...more] = trial.requestsWith(early)
      expect(more).toEqual([])
      expect(JSON.stringify(request?.body)).toMatch(new RegExp(`${system}.*${early}.*So be it.*Hello`))
      if (chat === '') continue
      const isRemembered = context === 'client' || context === 'platform'
      const second = await trial.ask({ ...talk, query: 'Hello again', stream: true })
      expect([second.status, second.headers.get('x-history')]).toEqual([
        200,
        isRemembered ? 'last-message' : null,
      ])
      if (isRemembered) expect(trial.requestsWith(early)).toEqual([request])
    }
  },

  async 'TALK-04'(trial) {
    requireContext(trial)
    const [chat, name] = [fresh(), fresh()]
    await trial.ask({ query: `My name is ${name}.`, chat })
    const { text } = await trial.ask({
      query: MY_NAME,
      chat,
      files: ['https://files.example.com/report.pdf'],
    })
    expect(text).toContain(`Your name is ${name};`)
    expect(text).toContain('report.pdf')
  },

  async 'TALK-05'(trial) {
    if (trial.dialect.requiresConversation === true) {
      const { status, reason } = await trial.ask({ query: 'Hello', chat: '' })
      expect([status, reason]).toEqual([400, 'conversation_id_required'])
    }
    const name = fresh()
    const face = trial.dialect.requiresConversation === true ? 'openai' : 'rest'
    const first = await trial.ask({ face, query: `My name is ${name}.`, chat: '' })
    const chat = first.headers.get('x-conversation-id') ?? ''
    expect(chat).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/)
    if (trial.dialect.context === 'none') return
    expect((await trial.ask({ query: MY_NAME, chat })).text).toContain(`Your name is ${name};`)
  },

  async 'TALK-06'(trial) {
    const [chat, name] = [fresh(), fresh()]
    const mine = { chat, user: 'ann', variant: 'apps', app: 'one' } as const
    await trial.ask({ ...mine, query: `My name is ${name}.` })
    const others = [
      { user: 'bob' },
      { owner: 'theirs' },
      { app: 'two' },
      { variant: 'twin' },
      { variant: 'plain', app: trial.dialect.appId },
    ] as const
    for (const other of others) {
      const { text } = await trial.ask({ ...mine, ...other, query: MY_NAME })
      expect(text, JSON.stringify(other)).toContain(NOT_TOLD)
      expect(text).not.toContain(name)
    }
  },

  async 'TALK-07'(trial) {
    requireContext(trial)
    if (trial.dialect.context === 'gateway') trial.exempt('the platform has no id that could be guessed')
    const { chat, name, platformId } = await secondTurn(trial)
    expect(platformId).toMatch(/^[\w-]{18,}$/)
    expect(platformId).not.toBe(chat)
    for (const other of [{ owner: 'theirs' }, { user: 'bob' }, {}] as const) {
      const { text } = await trial.ask({ query: MY_NAME, chat: String(platformId), ...other })
      expect(text).toContain(NOT_TOLD)
      expect(text).not.toContain(name)
    }
  },

  async 'TALK-08'(trial) {
    requireContext(trial)
    if (trial.dialect.context === 'gateway') trial.exempt('the platform has no conversations')
    const [chat, marker] = [fresh(), fresh()]
    const race = Array.from({ length: 10 }, () => trial.ask({ query: `Hello ${marker}`, chat }))
    const replies = await Promise.all(race)
    const refused = replies.filter(({ status }) => status !== 200)
    expect(refused.length).toBeLessThan(trial.dialect.isExclusive ? 10 : 1)
    for (const { reason } of refused) expect(reason).toBe(trial.dialect.refusals.busy ?? 'conversation_busy')

    const { text } = await trial.ask({ query: MY_NAME, chat })
    expect(text).toContain(`This is turn ${replies.length - refused.length + 1} of our conversation`)
    const named = trial.requestsWith(marker).map(trial.dialect.conversationOf)
    expect(new Set(named.filter((id) => id !== undefined)).size).toBe(1)
    expect(named.filter((id) => id === undefined).length).toBeLessThan(2)
  },

  async 'TALK-09'(trial) {
    if (trial.dialect.context !== 'platform')
      trial.exempt('no call waits for another one to get the conversation')
    const [chat, marker] = [fresh(), fresh()]
    // Where a separate call creates the conversation, no command in a query can make it fail.
    const { createsConversation: transcript } = trial.dialect
    const talk = { chat, variant: transcript === undefined ? 'plain' : 'replay' } as const
    const query = transcript === undefined ? `Hello ${marker}` : replayOf(transcript, 'whole', marker)
    const winner = trial.ask(
      transcript === undefined
        ? { ...talk, query: `sandbox:slow-first=150 sandbox:html ${query}` }
        : { ...talk, query, variables: { create: marker } },
    )
    await (transcript === undefined
      ? trial.seen.waitFor(() => trial.requestsWith(marker).length > 0)
      : trial.setup.replay.creating(marker))
    const next = trial.ask({ ...talk, query })
    // Where no conversation could be created, nothing was taken, so the call is sent again.
    expect(transcript === undefined ? [502] : [200, 502]).toContain((await winner).status)
    expect((await next).status).toBe(200)
    expect((await trial.ask({ ...talk, query })).status).toBe(200)
  },

  async 'TALK-10'(trial) {
    if (trial.dialect.context !== 'platform' || trial.dialect.takesAnyConversation)
      trial.exempt('the platform takes any id for a new conversation')
    const { proxy, emulators, elsewhere } = trial.setup
    const { dialect } = trial
    const [chat, marker] = [fresh(), fresh()]
    const talk = { chat, variant: 'moving' } as const
    const lost = [404, 'conversation_not_found']
    expect((await trial.ask({ ...talk, query: 'Hello' })).status).toBe(200)

    proxy.route(`${dialect.name}-moving`, emulatorOf(elsewhere, dialect).baseUrl)
    const first = await trial.ask({ ...talk, query: MY_NAME, stream: true })
    expect([first.status, first.reason]).toEqual(lost)

    proxy.route(`${dialect.name}-moving`, emulatorOf(emulators, dialect).baseUrl)
    for (const face of ['rest', 'openai'] as const) {
      const again = await trial.ask({ ...talk, face, query: `Hello ${marker}` })
      expect([again.status, again.reason]).toEqual(lost)
    }
    expect(trial.requestsWith(marker)).toEqual([])
  },

  async 'TALK-11'(trial) {
    if (!trial.dialect.isExclusive) trial.exempt('it runs side by side what is asked in one conversation')
    if (trial.dialect.refusals.busy !== undefined) trial.exempt('its refusal says nothing of why')
    const chat = fresh()
    await trial.ask({ query: 'Hello', chat })
    const opened = await trial.open({ query: 'sandbox:slow=20 sandbox:long=1000', chat })
    await opened.until(/网关/)
    const { status, reason, headers } = await trial.ask({ query: 'Hello', chat })
    opened.leave()
    expect([status, reason]).toEqual([409, 'conversation_busy'])
    expect(headers.get('x-should-retry')).toBe('true')
  },
} satisfies Record<string, Check>

function requireContext({ dialect, exempt }: Trial): void {
  if (dialect.context === 'none') exempt('such an app keeps no conversation')
}

/** Runs a conversation of two turns and returns the platform's id of it. */
async function secondTurn(trial: Trial) {
  const [chat, name, marker] = [fresh(), fresh(), fresh()]
  await trial.ask({ query: `My name is ${name}.`, chat })
  await trial.ask({ query: `Hello ${marker}`, chat })
  const [request] = trial.requestsWith(marker)
  return { chat, name, platformId: request && trial.dialect.conversationOf(request) }
}
