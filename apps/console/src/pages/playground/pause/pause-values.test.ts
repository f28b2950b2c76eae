import type { PauseField } from '@trunkline/sdk'
import { expect, test } from 'vitest'
import { firstValues, sentFields, shownAnswer } from './pause-values.ts'

const required = false
const FIELDS: readonly PauseField[] = [
  { name: 'name', type: 'text', required, label: 'Your name', default: 'Ada' },
  { name: 'reason', type: 'paragraph', required },
  { name: 'amount', type: 'number', required, default: 3 },
  { name: 'size', type: 'select', required, options: ['S', 'L'] },
  { name: 'terms', type: 'checkbox', required, default: true },
  { name: 'photo', type: 'file', required },
  {
    name: 'papers',
    type: 'file-list',
    required,
    default: ['https://example.com/1', 'https://example.com/2'],
  },
]

test('a form begins with the defaults of its fields', () => {
  expect(firstValues(FIELDS)).toEqual({
    name: 'Ada',
    reason: '',
    amount: '3',
    size: '',
    terms: true,
    photo: '',
    papers: 'https://example.com/1\nhttps://example.com/2',
  })
})

test('values are sent in the types of their fields, and shown as the message of the user', () => {
  const values = {
    name: ' Grace ',
    reason: 'Two\nlines',
    amount: '1.5',
    size: 'L',
    terms: false,
    photo: ' https://example.com/p.png ',
    papers: 'https://example.com/1\n\n https://example.com/2 ',
  }
  const sent = sentFields(FIELDS, values)
  expect(sent).toEqual({
    name: ' Grace ',
    reason: 'Two\nlines',
    amount: 1.5,
    size: 'L',
    terms: false,
    photo: 'https://example.com/p.png',
    papers: ['https://example.com/1', 'https://example.com/2'],
  })
  expect(shownAnswer({ id: 'ok', title: 'Approve' }, FIELDS.slice(0, 1), sent)).toBe(
    'Approve\nYour name:  Grace ',
  )
  expect(shownAnswer(undefined, FIELDS.slice(4), sent)).toBe(
    'terms: ✗\nphoto: https://example.com/p.png\npapers: https://example.com/1, https://example.com/2',
  )
})

test('what is empty is not sent, and what is no number is sent as it was written', () => {
  const fields = FIELDS.filter(({ name }) => ['name', 'photo', 'papers'].includes(name))
  expect(sentFields(fields, { name: '  ', photo: '', papers: '\n' })).toBeUndefined()
  expect(sentFields([{ name: 'amount', type: 'number', required }], { amount: 'many' })).toEqual({
    amount: 'many',
  })
  expect(shownAnswer({ id: 'ok', title: 'Approve' }, fields)).toBe('Approve')
})
