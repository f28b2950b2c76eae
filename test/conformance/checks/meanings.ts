import { expect } from 'vitest'
import { WAYS } from '../client.ts'
import { END_GRACE_MS } from '../gateway-with-emulators.ts'
import type { Playing } from '../replay.ts'
import type { Reply } from '../reply.ts'
import { Dice, type Meaning, SPELLERS } from '../spellings.ts'
import type { Check, Trial } from '../trial.ts'

const PLAIN: Meaning = { text: 'Hallo, wie geht es?', reasoning: '', ending: 'ordinary', usage: false }

/** Choices of the speller: each makes other shapes, words and pieces of the same reply. */
const CHOICES = [[0], [1, 2, 3], [7, 5, 2, 9, 4]]

export const MEANINGS = {
  async 'MEANS-01'(trial) {
    for (const ending of ['failed', 'stopped', 'error'] as const) {
      const expected = ending === 'stopped' ? 'agent_truncated' : 'agent_error'
      // Some say it by a word of the model, others by the state of a run or of a node.
      for (const reply of await playedInEachWay(trial, { ...PLAIN, ending }))
        expect([ending, reply.reason, reply.isDone, reply.finishes]).toEqual([ending, expected, false, []])
    }
  },

  async 'MEANS-02'(trial) {
    const frames = framesOf(trial, PLAIN, [0])
    const end = framesOf(trial, { ...PLAIN, text: 'x' }, [0])
      .filter((frame) => END.test(frame))
      .slice(0, 1)
    expect(end).toHaveLength(1)
    const slowly = { everyMs: END_GRACE_MS * 2 }
    for (const reply of await everyWay(trial, [...end, ...frames], slowly)) {
      expect([reply.text, reply.reason]).toEqual([PLAIN.text, undefined])
      expect(reply.finishes).toEqual(['stop'])
    }
  },

  async 'MEANS-03'(trial) {
    const whole = framesOf(trial, PLAIN, [0])
    for (const { text, reason } of await everyWay(trial, whole, { breaks: true }))
      expect([text, reason]).toEqual([PLAIN.text, undefined])
    const begun = framesOf(trial, { ...PLAIN, ending: 'none' }, [0])
    for (const { reason } of await everyWay(trial, begun, { breaks: true }))
      expect(reason).toBe('agent_truncated')
  },

  async 'MEANS-04'(trial) {
    const text = '👩‍👩‍👧‍👦 a 𠮷 🇨🇳 b 🙂'
    for (const reply of await playedInEachWay(trial, { ...PLAIN, text })) {
      expect(reply.text).toBe(text)
      expect(reply.raw).not.toMatch(/\\ud[89a-f]/i)
    }
  },

  async 'MEANS-05'(trial) {
    for (const { text, reason, usage } of await playedInEachWay(trial, { ...PLAIN, usage: true })) {
      expect([text, reason]).toEqual([PLAIN.text, undefined])
      expect(usage).toEqual({ prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 })
    }
  },

  async 'MEANS-06'(trial) {
    if (trial.dialect.platform !== 'openai') trial.exempt('an empty reply is a failure in every case')
    const unread = {
      choices: [{ index: 0, delta: { content: [{ type: 'hologram', hologram: { id: 'h' } }] } }],
    }
    const lost = { choices: [], usage: { prompt_tokens: 9, completion_tokens: 40 } }
    const stop = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
    for (const events of [[unread, stop], [stop, lost], [lost]]) {
      const frames = [...events.map((event) => JSON.stringify(event)), '[DONE]'].map(
        (data) => `data: ${data}\n\n`,
      )
      for (const { reason } of await everyWay(trial, frames)) expect(reason).toBe('agent_empty_reply')
    }
  },

  async 'MEANS-07'(trial) {
    if (trial.dialect.platform !== 'openai') trial.exempt('clients cannot give it tools')
    const call = (name: string, more: object) => ({
      ...more,
      function: { name, arguments: { city: 'Bonn' } },
    })
    const deltas = [
      [call('weather', {}), call('time', {})],
      [call('weather', { index: 1, id: '' }), call('time', { index: 2 })],
      [call('weather', { index: 0 }), call('time', { index: 0 })],
    ]
    for (const tool_calls of deltas) {
      const chunk = { choices: [{ index: 0, delta: { tool_calls }, finish_reason: 'stop' }] }
      for (const stream of [true, false]) {
        const query = trial.setup.replay.play([`data: ${JSON.stringify(chunk)}\n\n`])
        const reply = await trial.ask({ face: 'openai', stream, query, variant: 'played' })
        expect(reply.finishes).toEqual(['tool_calls'])
        expect(callsIn(reply)).toMatchObject(
          ['weather', 'time'].map((name, index) => ({
            ...(stream && { index }),
            id: expect.stringMatching(/./),
            type: 'function',
            function: { name, arguments: '{"city":"Bonn"}' },
          })),
        )
      }
    }
  },

  async 'MEANS-08'(trial) {
    const text = '<think>Let me see.</think>Well.'
    for (const reply of await playedInEachWay(trial, { ...PLAIN, text })) {
      expect(reply.text).toBe('Well.')
      if (reply.raw.includes('reasoning_content')) expect(reply.reasoning).toBe('Let me see.')
    }
  },
} satisfies Record<string, Check>

const END = /message_end|chat\.completed|"finish_reason":"stop"|"state":"(?:TASK_STATE_COMPLETED|completed)"/

function callsIn({ bodies }: Reply): readonly unknown[] {
  return bodies
    .flatMap(({ choices }) => choices ?? [])
    .flatMap(({ delta, message }) => (delta ?? message)?.tool_calls ?? [])
}

function framesOf(
  { dialect, exempt }: Trial,
  meaning: Meaning,
  choices: readonly number[],
): readonly string[] {
  const spell = SPELLERS[dialect.platform]
  if (spell === undefined) return exempt('nobody has written down how it spells replies')
  if (dialect.platform === 'langgraph')
    return exempt('a reply that is played has no run, whose status it needs')
  return spell(meaning, new Dice(choices)).frames
}

async function playedInEachWay(trial: Trial, meaning: Meaning): Promise<readonly Reply[]> {
  const replies = CHOICES.map((choices) => everyWay(trial, framesOf(trial, meaning, choices)))
  return (await Promise.all(replies)).flat()
}

function everyWay(trial: Trial, frames: readonly string[], how?: Playing): Promise<readonly Reply[]> {
  return Promise.all(
    WAYS.map((way) => trial.ask({ ...way, query: trial.setup.replay.play(frames, how), variant: 'played' })),
  )
}
