import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Pause } from '#core/agents/pause.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { isOption, matchAnswer } from './match-answer.ts'

const choice: Pause = {
  question: 'Send it?',
  options: [
    { id: 'approve', title: 'Approve it' },
    { id: 'reject', title: 'Ablehnen' },
  ],
  fields: [],
  takesText: false,
}
const form: Pause = {
  ...choice,
  fields: [
    { name: 'comment', label: 'Comment', type: 'text', required: true },
    { name: 'count', type: 'number', required: false },
    { name: 'colour', type: 'select', required: false, options: ['red', 'blue'] },
    { name: 'sure', type: 'checkbox', required: false },
    { name: 'photo', type: 'file', required: false },
    { name: 'more', type: 'file-list', required: false },
  ],
}
const note: Pause = {
  ...choice,
  options: [{ id: 'go', title: 'Go' }],
  fields: [{ name: 'note', type: 'paragraph', required: true }],
}

const urls: unknown[] = []
const said = (pause: Pause, query: string, answer?: object) =>
  matchAnswer(pause, {
    query,
    answer: answer && { pause: 'p', ...answer },
    queryField: ['query'],
    requireFile: (url) => void urls.push(url),
  })

function refused(pause: Pause, query: string, answer?: object) {
  try {
    said(pause, query, answer)
  } catch (error) {
    if (error instanceof Problem) return [error.reason, error.field?.join('.')]
    throw error
  }
  return 'taken'
}

describe('a text', () => {
  test.each(['approve', ' APPROVE ', 'Approve it', 'ａｐｐｒｏｖｅ'])(
    '%j is the option that it names',
    (query) => {
      expect(said(choice, query)).toMatchObject({ option: 'approve', fields: {} })
      expect(isOption(choice, query)).toBe(true)
      expect(said(choice, query, {})).toMatchObject({ option: 'approve', fields: {} })
    },
  )

  test('that is no answer is refused, with what is possible', () => {
    expect(refused(choice, 'maybe')).toEqual(['answer_required', 'query'])
    expect(() => said(choice, 'maybe')).toThrow(
      expect.objectContaining({ detail: expect.stringContaining('approve (Approve it), reject (Ablehnen)') }),
    )
    expect(refused(form, 'approve')).toEqual(['answer_required', 'query'])
  })

  test('fills in the only field of a form with at most one option', () => {
    expect(said(note, 'all fine')).toMatchObject({ option: 'go', fields: { note: 'all fine' } })
    expect(refused(form, 'all fine')).toEqual(['answer_required', 'query'])
  })

  test('is the answer where the platform takes any', () => {
    expect(said({ ...choice, options: [], takesText: true }, 'blue')).toMatchObject({
      fields: {},
      text: 'blue',
    })
    expect(said({ ...choice, takesText: true }, 'blue')).toMatchObject({ text: 'blue' })
  })

  test('that is the JSON of an answer is read as one, with the words of Dify as well', () => {
    const fields = { comment: 'ok' }
    for (const object of [
      { option: 'approve', fields },
      { action: 'approve', inputs: fields },
    ])
      expect(said(form, JSON.stringify(object))).toMatchObject({ option: 'approve', fields })
    expect(said(form, '{"cancel": true}')).toBe('cancel')
    expect(refused(form, '{"option": "approve", "fields": {"nothing": 1}}')).toEqual([
      'answer_required',
      'query',
    ])
  })

  test('that is the JSON of a form whose fields have those names fills in the form', () => {
    const odd: Pause = {
      ...choice,
      options: [],
      fields: [
        { name: 'option', type: 'text', required: true },
        { name: 'fields', type: 'text', required: false },
      ],
    }
    expect(said(odd, '{"option": "x", "fields": "y"}')).toMatchObject({
      fields: { option: 'x', fields: 'y' },
    })
  })

  test('of any kind is an answer or refused, and never anything else', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), fc.constantFrom(choice, form, note), (query, pause) => {
        const result = refused(pause, query)
        expect(result === 'taken' || result[0] === 'answer_required').toBe(true)
      }),
    )
  })
})

describe('an answer by the id of its pause', () => {
  test('may be any JSON where the pause has no fields, and keeps its type', () => {
    const open: Pause = { ...choice, takesText: true }
    for (const value of [false, 0, null, ['a'], { eur: 5 }, 'blue', '']) {
      expect(said(open, '', { value })).toMatchObject({ value, fields: {}, text: '' })
    }
    // The option of this value has the type that the platform gave it.
    expect(said(open, '', { value: 'approve' })).toMatchObject({ option: 'approve' })
    expect(said({ ...open, options: [{ id: 'false', title: 'No' }] }, '', { value: false })).toMatchObject({
      option: 'false',
    })
    for (const [pause, answer] of [
      [choice, { value: 5 }],
      [form, { value: { comment: 'ok' } }],
      [open, { value: 5, option: 'approve' }],
    ] as const) {
      expect(refused(pause, '', answer)).toEqual(['answer_required', 'answer.value'])
    }
    expect(said(open, '', { value: 5, cancel: true })).toBe('cancel')
  })

  test('names every field that is wrong', () => {
    const fields = { nothing: 1, count: 'many', colour: 'green' }
    try {
      said(form, '', { option: 'no such', fields })
      expect.unreachable()
    } catch (error) {
      const { reason, mistakes } = error as Problem
      expect([reason, ...mistakes.map(({ field }) => field.join('.'))]).toEqual([
        ...['answer_required', 'answer.option', 'answer.fields.nothing', 'answer.fields.comment'],
        ...['answer.fields.count', 'answer.fields.colour'],
      ])
    }
    expect(urls).toEqual([])
  })

  test('names what is wrong', () => {
    expect(refused(choice, '', { option: 'nothing' })).toEqual(['answer_required', 'answer.option'])
    expect(refused(choice, '', {})).toEqual(['answer_required', 'answer.option'])
    expect(refused(form, '', { option: 'approve' })).toEqual(['answer_required', 'answer.fields.comment'])
    for (const [name, value] of Object.entries({
      ...{ nothing: 1, count: 'many', colour: 'green', sure: 'yes', photo: 1, more: 'one', comment: 7 },
    })) {
      const fields = { comment: 'ok', [name]: value }
      expect(refused(form, '', { option: 'approve', fields })).toEqual([
        'answer_required',
        `answer.fields.${name}`,
      ])
    }
  })

  test('takes the values of a form, and looks at the URLs of its files', () => {
    urls.length = 0
    const fields = {
      comment: 'ok',
      count: '7',
      colour: 'red',
      sure: true,
      photo: 'https://a',
      more: ['https://b'],
    }
    expect(said(form, '', { option: 'approve', fields })).toMatchObject({ option: 'approve', fields })
    expect(urls).toEqual(['https://a', 'https://b'])
  })

  test('adds the values that the form has where it has none', () => {
    const preset = {
      ...note,
      fields: [{ name: 'note', type: 'text', required: true, default: 'none' } as const],
    }
    expect(said(preset, '', { option: 'go' })).toMatchObject({ fields: { note: 'none' } })
  })

  test('has its text beside it where the platform takes one', () => {
    expect(said({ ...choice, options: [], takesText: true }, 'blue', {})).toMatchObject({ text: 'blue' })
    expect(said(note, 'all fine', {})).toMatchObject({ option: 'go', fields: { note: 'all fine' } })
  })

  test('gives the pause up, whatever it waits for', () => {
    expect(said(form, 'Hello', { cancel: true })).toBe('cancel')
  })
})

test('a form that was delivered by other means is over for every client of the gateway', () => {
  const elsewhere = { ...choice, options: [], unanswerable: 'it was sent by e-mail.' }
  expect(refused(elsewhere, 'approve')).toEqual(['pause_over', undefined])
  expect(refused(elsewhere, '', { option: 'approve' })).toEqual(['pause_over', undefined])
})
