import { createParser } from 'eventsource-parser'
import { expect, test } from 'vitest'
import { Problem } from '#core/base/errors/errors.ts'
import { failureFrame } from './failure-frame.ts'

function eventsOf(text: string) {
  const events: { event: string | undefined; id: string | undefined; data: unknown }[] = []
  const parser = createParser({
    onEvent: ({ event, id, data }) => events.push({ event, id, data: JSON.parse(data) }),
  })
  parser.feed(text)
  return events
}

const error = {
  message: 'The gateway process that ran the call has ended.',
  type: 'server_error',
  code: 'interrupted',
  param: null,
}

test.each(['rest', 'openai'] as const)(
  'on the face %s a failure in a stream is one event in OpenAI’s form of an error',
  (face) => {
    expect(eventsOf(failureFrame(face, new Problem('interrupted'), 5))).toEqual([
      { event: undefined, id: '5', data: { error } },
    ])
  },
)

test('on the Responses face a failure in a stream is an error event with the next number of its events', () => {
  const { message, code, param } = error
  expect(eventsOf(failureFrame('responses', new Problem('interrupted'), 5))).toEqual([
    { event: 'error', id: '5', data: { type: 'error', sequence_number: 4, code, message, param, error } },
  ])
})

test('the problem of a call that was stopped has its own code', () => {
  const [event] = eventsOf(failureFrame('rest', new Problem('stopped'), 1))
  expect(event?.data).toMatchObject({ error: { code: 'stopped', message: 'The call was stopped.' } })
})
