import { expect, test } from 'vitest'
import { describeAnswer } from './describe-answer.ts'

test('an answer is described by what was chosen and filled in, in the language of the question', () => {
  const fields = { comment: 'Fine', nights: 2, tags: ['a', 'b'] }
  expect(describeAnswer('en', { chosen: 'Approve', fields })).toBe(
    'You chose “Approve”.\nYou filled in:\n- comment: Fine\n- nights: 2\n- tags: ["a","b"]\n\n',
  )
  expect(describeAnswer('zh', { chosen: '确认' })).toBe('你选择了“确认”。\n\n')
  expect(describeAnswer('zh', { said: '杭州' })).toBe('你回答了“杭州”。\n\n')
})
