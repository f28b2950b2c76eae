import { expect, test } from 'vitest'
import { detailsIn } from '#core/agents/chat-events.test-support.ts'
import { detail } from './detail-event.ts'

test('whatever a platform puts into a detail, its texts are well-formed', () => {
  const half = 'cut \ud83d'
  const event = detail(
    { output: half, values: { [half]: half }, list: [half], odd: { deep: [half] } },
    (step) => {
      step.keep('odd', 'list')
      return { type: 'variables', name: step.text('output'), data: { values: step.object('values') } }
    },
  )
  const whole = 'cut \ufffd'
  expect(detailsIn([event])).toEqual([
    {
      type: 'variables',
      name: whole,
      data: { values: { [whole]: whole } },
      raw: { odd: { deep: [whole] }, list: [whole] },
    },
  ])
})
