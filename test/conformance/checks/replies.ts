import { expect } from 'vitest'
import { CONTRACT } from '../../support/contract/contract.ts'
import { replyCheck } from '../../support/contract/schema-check.ts'
import { fresh } from '../gateway-with-emulators.ts'
import type { Reply } from '../reply.ts'
import type { Check } from '../trial.ts'

const HELLO = 'Hello, what is a gateway?'

export const REPLIES = {
  async 'REPLY-01'(trial) {
    const chat = fresh()
    const reply = await trial.ask({ query: HELLO, chat })
    expect(reply.status).toBe(200)
    expect(problemsWith('ChatReply', reply)).toEqual([])
    expect(reply.bodies[0]?.id).toBe(chat)
    expect(reply.headers.get('x-conversation-id')).toBe(chat)
    expect(reply.finishes).toEqual(['stop'])
  },

  async 'REPLY-02'(trial) {
    const chat = fresh()
    const reply = await trial.ask({ query: HELLO, chat, stream: true })
    expect(reply.status).toBe(200)
    expect(reply.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(reply.headers.get('cache-control')).toBe('no-cache, no-transform')
    expect(reply.headers.get('x-accel-buffering')).toBe('no')
    expect(problemsWith('ChatChunk', reply)).toEqual([])
    expect(new Set(reply.bodies.map(({ id }) => id))).toEqual(new Set([chat]))
    const choices = reply.bodies.map(({ choices }) => choices?.[0])
    expect(choices.at(-1)).toEqual({
      index: 0,
      delta: { role: 'assistant', content: null },
      finish_reason: 'stop',
    })
    for (const choice of choices.slice(0, -1)) {
      expect(choice).toEqual({
        index: 0,
        delta: { role: 'assistant', content: expect.stringMatching(/^./su) },
        finish_reason: null,
      })
    }
  },

  async 'REPLY-03'(trial) {
    const [, , json, stream] = await trial.everyWay(HELLO)
    for (const [reply, schema] of [
      [json, 'Completion'],
      [stream, 'CompletionChunk'],
    ] as const) {
      expect(reply && problemsWith(schema, reply)).toEqual([])
      const callId = reply?.headers.get('x-call-id')
      expect(new Set(reply?.bodies.map(({ id }) => id))).toEqual(new Set([`chatcmpl-${callId}`]))
    }
  },

  async 'REPLY-04'(trial) {
    const replies = (await trial.everyWay(HELLO)).map(({ text, finishes, usage }) => ({
      text,
      finishes,
      usage,
    }))
    expect(replies[0]?.text).toMatch(/^Hello from the /)
    for (const reply of replies) expect(reply).toEqual(replies[0])
  },

  async 'REPLY-05'(trial) {
    for (const reply of await trial.everyWay(`sandbox:echo ${HOSTILE_TEXT}`))
      expect(reply.text).toBe(HOSTILE_TEXT.toWellFormed())
  },

  async 'REPLY-06'(trial) {
    const { cut } = trial.dialect
    for (const reply of await trial.everyWay(`sandbox:length ${HELLO}`)) {
      expect(reply.finishes).toEqual([cut])
      expect(reply.text).not.toBe('')
    }
  },

  async 'REPLY-07'(trial) {
    for (const { usage } of await trial.everyWay(HELLO)) {
      if (!trial.dialect.reportsUsage) {
        expect(usage).toBeUndefined()
        continue
      }
      const { prompt_tokens = 0, completion_tokens = 0, total_tokens } = usage ?? {}
      // Placeholders of platforms for unknown usage: 0, or 1 from FastGPT.
      expect(Math.min(prompt_tokens, completion_tokens)).toBeGreaterThan(1)
      expect(total_tokens).toBe(prompt_tokens + completion_tokens)
    }
  },

  async 'REPLY-08'(trial) {
    if (!trial.dialect.givesSeveralAnswers) trial.exempt('its emulator gives one answer a run')
    const answer = 'one two three four'
    for (const { text } of await trial.everyWay(`sandbox:multi sandbox:echo ${answer}`)) {
      expect(text).toBe('one two\n\n three four')
    }
  },

  async 'REPLY-09'(trial) {
    if (!trial.dialect.replacesText) trial.exempt('it does not take back what it said')
    const [json, stream, completion, chunks] = await trial.everyWay('sandbox:replace sandbox:echo badly said')
    const replacement = '抱歉，我不能回答。Sorry, I cannot answer that.'
    for (const reply of [json, completion]) expect(reply?.text).toBe(replacement)
    for (const reply of [stream, chunks]) expect(reply?.text).toBe(`badly said\n\n${replacement}`)
  },

  async 'REPLY-10'(trial) {
    for (const reply of await trial.everyWay('sandbox:empty')) {
      if (trial.dialect.mayAnswerNothing) expect([reply.status, reply.text]).toEqual([200, ''])
      else expect([reply.status, reply.reason]).toEqual([502, 'agent_empty_reply'])
    }
  },

  async 'REPLY-11'(trial) {
    const files = ['https://files.example.com/report.pdf', 'https://files.example.com/photo.png']
    for (const face of ['rest', 'openai'] as const) {
      for (const query of [HELLO, '']) {
        const { text } = await trial.ask({ face, query, files })
        expect(text).toContain('I received 2 files')
        for (const name of ['report.pdf', 'photo.png']) expect(text).toContain(name)
      }
    }
  },

  async 'REPLY-12'(trial) {
    if (trial.dialect.ignoresVariables) trial.exempt('its protocol has no variables')
    const topic = fresh()
    await trial.ask({ query: HELLO, variables: { topic } })
    expect(trial.requestsWith(topic)).toHaveLength(1)
  },

  async 'DETAIL-01'(trial) {
    const { details: wanted } = trial.dialect
    const [json, stream] = await Promise.all(
      [false, true].map((stream) => trial.ask({ query: HELLO, stream, detail: true })),
    )
    for (const reply of [json, stream]) {
      expect(reply?.details.flatMap((detail) => DETAIL_EVENT(detail) ?? [])).toEqual([])
      expect([...new Set(reply?.details.map(({ type }) => type))].sort()).toEqual([...wanted].sort())
      expect(reply?.text).toMatch(/^Hello from the /)
    }
    expect(stream && problemsWith('ChatChunk', stream)).toEqual([])
    expect(json && problemsWith('ChatReply', json)).toEqual([])
  },

  async 'DETAIL-02'(trial) {
    for (const { bodies } of await trial.everyWay(HELLO)) {
      expect(bodies.filter((body) => 'detail' in body)).toEqual([])
    }
  },

  async 'DETAIL-03'(trial) {
    const secret = fresh()
    // Contains numbers, but no text of the question.
    const query = `sandbox:long=3 ${secret}`
    for (const stream of [false, true]) {
      const { details } = await trial.ask({ query, stream, detail: true })
      expect(JSON.stringify(details)).not.toContain(secret)
    }
    if (!trial.dialect.showsNodeData) return
    const { details } = await trial.ask({ query, variant: 'open', detail: true })
    expect(JSON.stringify(details)).toContain(`"query":"${query}"`)
  },

  async 'DETAIL-04'(trial) {
    for (const { reasoning } of await trial.everyWay(HELLO)) expect(reasoning).toBe('')
    for (const stream of [false, true]) {
      const { reasoning } = await trial.ask({ face: 'openai', query: HELLO, stream, variant: 'open' })
      expect(reasoning !== '').toBe(trial.dialect.reasons)
    }
  },

  async 'PAUSE-01'(trial) {
    if (!trial.dialect.pauses) trial.exempt('its emulator does not pause')
    for (const stream of [false, true]) {
      const chat = fresh()
      const pause = await trial.ask({ query: 'sandbox:interactive', chat, stream, detail: true })
      expect([pause.text, pause.finishes]).toEqual(['请选择\n\n- 确认\n- 取消', ['stop']])
      expect(pause.details.filter(({ type }) => type === 'interaction')).toHaveLength(1)
      const { text } = await trial.ask({ query: '确认', chat, stream })
      expect(text).toMatch(/^你选择了“确认”。\n\n/)
    }
  },
} satisfies Record<string, Check>

const DETAIL_EVENT = componentCheck('DetailEvent')

function problemsWith(schema: 'ChatReply' | 'ChatChunk' | 'Completion' | 'CompletionChunk', reply: Reply) {
  const check = componentCheck(schema)
  return reply.bodies.flatMap((body) => check(body) ?? [])
}

function componentCheck(name: string) {
  return replyCheck(CONTRACT, ['components', 'schemas', name])
}

/** All kinds of line ends, text that looks like a stream, halves of characters, and characters that JSON escapes. */
const HOSTILE_TEXT = [
  'CR\rLF\nCRLF\r\nthree\n\n\nLS\u2028PS\u2029NEL\u0085NUL\u0000DEL\u007f',
  'data: [DONE]\n\nevent: error\ndata: {"error":{"code":"x"}}\n\n: comment\n\nid: 7\nretry: 1',
  'lone \ud800 and \udc00, pairs 𠮷 👩‍👩‍👧‍👦 🇨🇳, e\u0301, \ufeff, \u202e, \uffff',
  '"quotes" \\ back\\u0041slash </script> <b>&amp; %0d%0a {{y}}\t',
].join('\n')
