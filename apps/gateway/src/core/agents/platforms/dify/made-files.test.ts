import { expect, test } from 'vitest'
import type { ChatEvent } from '#core/agents/events.ts'
import { agentFor, callOf } from '#core/agents/transcripts.test-support.ts'
import { dify } from './adapter.ts'

function replyTo(frames: readonly object[], mode: 'chat' | 'workflow' = 'chat'): readonly ChatEvent[] {
  const state = dify.start(callOf(agentFor(dify, { options: { mode } })))
  const events = frames.flatMap((frame) =>
    dify.translate({ event: undefined, data: JSON.stringify(frame) }, state),
  )
  return [...events, ...dify.finish(state)]
}
const filesIn = (events: readonly ChatEvent[]) =>
  events.flatMap((event) => (event.type === 'file' ? [event.file] : []))
const textIn = (events: readonly ChatEvent[]) =>
  events.flatMap((event) => (event.type === 'text' ? [event.text] : [])).join('')

const IMAGE = {
  dify_model_identity: '__dify__file__',
  type: 'image',
  filename: 'a.png',
  mime_type: 'image/png',
  url: '/files/tools/a.png?sign=1',
}
const made = { type: 'image', url: IMAGE.url, name: 'a.png', mediaType: 'image/png' }

test('a file of the assistant is a part of the answer, and one of the user is none', () => {
  const url = '/files/tools/b.png'
  const events = replyTo([
    {
      event: 'message_file',
      id: 'f1',
      type: 'image',
      belongs_to: 'user',
      url: 'https://files.example.com/mine.png',
    },
    { event: 'message_file', id: 'f2', type: 'image', belongs_to: 'assistant', url },
    { event: 'message_end', metadata: {}, files: [{ ...IMAGE, belongs_to: 'user' }] },
  ])
  expect(filesIn(events)).toEqual([{ type: 'image', url }])
  expect(events.at(-1)).toEqual({ type: 'end', reason: 'stop' })
})

test('the files of an end are read, of a message and of a workflow', () => {
  expect(filesIn(replyTo([{ event: 'message_end', metadata: {}, files: [IMAGE] }]))).toEqual([made])
  const finished = { status: 'succeeded', outputs: { text: 'Done.' }, files: [IMAGE] }
  expect(filesIn(replyTo([{ event: 'workflow_finished', data: finished }], 'workflow'))).toEqual([made])
})

test('the end of a message has what the user has sent as well, which is no answer', () => {
  const files = ['local_file', 'remote_url', 'tool_file'].map((transfer_method) => ({
    ...{
      transfer_method,
      type: 'image',
      filename: `${transfer_method}.png`,
      url: `/files/${transfer_method}.png`,
    },
  }))
  const read = filesIn(replyTo([{ event: 'message_end', metadata: {}, files }]))
  expect(read).toEqual([{ type: 'image', url: '/files/tool_file.png', name: 'tool_file.png' }])
})

test('outputs that are files are files and no text', () => {
  const outputs = {
    chart: IMAGE,
    more: [IMAGE, { ...IMAGE, type: 'document', filename: 'b.pdf', mime_type: 'application/pdf' }],
  }
  const events = replyTo([{ event: 'workflow_finished', data: { status: 'succeeded', outputs } }], 'workflow')
  expect(filesIn(events).map(({ type }) => type)).toEqual(['image', 'image', 'document'])
  expect(textIn(events)).toBe('')
  const mixed = replyTo(
    [{ event: 'workflow_finished', data: { status: 'succeeded', outputs: { ...outputs, text: 'Two.' } } }],
    'workflow',
  )
  expect(textIn(mixed)).toBe('Two.')
})

test('text in an event of a file is text', () => {
  expect(replyTo([{ event: 'message_file', answer: 'Hi' }])).toEqual([{ type: 'text', text: 'Hi' }])
})
