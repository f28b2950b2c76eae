import { expect, test } from 'vitest'
import { refusedFields } from './refused-fields.ts'

const FIELDS = ['stream_options', 'user']
const extra = (...loc: unknown[]) => ({ type: 'extra_forbidden', loc, msg: 'Extra inputs are not permitted' })

test.each<[unknown, string[]]>([
  [
    { message: { detail: [extra('body', 'stream_options'), extra('body', 'user')] } },
    ['stream_options', 'user'],
  ],
  [{ detail: [extra('body', 'stream_options', 'include_usage')] }, ['stream_options']],
  [{ detail: [extra('user')] }, ['user']],
  [{ message: `{"detail":${JSON.stringify([extra('body', 'user')])}}` }, ['user']],
  [
    {
      message:
        "[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted'}]",
    },
    ['stream_options'],
  ],
  [{ message: 'Unrecognized request argument supplied: stream_options' }, ['stream_options']],
  [{ message: 'Unrecognized request arguments supplied: user', param: null }, ['user']],
  [{ message: "Unknown parameter: 'user'.", param: 'user' }, ['user']],
  [{ message: 'x', param: 'stream_options.include_usage' }, ['stream_options']],
  [{ error: 'json: unknown field "user"' }, ['user']],
  [{ message: "Additional properties are not allowed ('user' was unexpected)" }, ['user']],
  [{ message: 'property user is not supported' }, ['user']],
  [{ message: '不支持的参数：stream_options' }, ['stream_options']],
  [{ errors: [{ property: 'user', message: 'should not exist' }] }, ['user']],
])('%j names %j', (error, fields) => {
  expect(refusedFields(error, FIELDS)).toEqual(fields)
})

test.each<unknown>([
  { detail: [extra('body', 'messages', 0, 'user', 'name')] },
  { detail: [extra('body', 'temperature')] },
  { message: "Invalid value: 'user'. The last message must have another role.", param: 'messages[0].role' },
  { message: 'The user is not allowed to call this model' },
  { message: 'stream_options is set only when you set stream: true' },
  { message: 'Invalid request', input: { stream_options: {}, user: 'u' } },
  { detail: 'x', param: ['messages', 'user'] },
  null,
])('%j names none of them', (error) => {
  expect(refusedFields(error, FIELDS)).toEqual([])
})
