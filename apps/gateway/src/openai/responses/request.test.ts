import { expect, test } from 'vitest'
import { conversationOf, readRequest, withoutEmpty } from './request.ts'
import type { ResponseRequest } from './schemas.ts'

const ID = '01890a5d-ac96-774b-bcce-b302099a8057'
const read = (more: object) => readRequest({ model: 'openai', input: 'Hello', ...more } as ResponseRequest)
const messagesOf = (input: unknown, more: object = {}) => read({ input, ...more }).input.messages

test('input is a text or items, with or without a type', () => {
  expect(messagesOf('Hello', { instructions: 'Be kind.' })).toEqual([
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'Hello' },
  ])
  expect(
    messagesOf([
      { role: 'developer', content: 'd' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'u' }] },
      { type: 'reasoning', id: 'rs_1', summary: [] },
      { role: 'assistant', id: 'msg_1', status: 'completed', content: [{ type: 'output_text', text: 'a' }] },
      { type: 'item_reference', id: 'rs_2' },
      { type: 'item_reference', id: `msg_${ID}.empty` },
    ]),
  ).toEqual([
    { role: 'developer', content: 'd' },
    { role: 'user', content: [{ type: 'text', text: 'u' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'a' }] },
  ])
})

test('images and files are the parts of chat completions', () => {
  const parts = [
    { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'low', file_id: null },
    { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' },
    { type: 'input_file', file_url: 'https://example.com/b.pdf', file_data: '' },
  ]
  expect(messagesOf([{ role: 'user', content: parts }])[0]?.content).toEqual([
    { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } },
    { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
    { type: 'file', file: { file_url: 'https://example.com/b.pdf' } },
  ])
})

test('neighbouring calls of functions are one message, and their outputs messages of tools', () => {
  const call = (id: string) => ({
    type: 'function_call',
    id: `fc_${id}`,
    call_id: id,
    name: 'f',
    arguments: '{}',
  })
  expect(
    messagesOf([
      { role: 'user', content: 'u' },
      ...[call('1'), call('2')],
      { type: 'function_call_output', call_id: '1', output: 'one' },
      { type: 'function_call_output', call_id: '2', output: [{ type: 'input_text', text: 'two' }] },
    ]),
  ).toEqual([
    { role: 'user', content: 'u' },
    {
      role: 'assistant',
      content: null,
      extra: {
        tool_calls: ['1', '2'].map((id) => ({
          id,
          type: 'function',
          function: { name: 'f', arguments: '{}' },
        })),
      },
    },
    { role: 'tool', content: 'one', extra: { tool_call_id: '1' } },
    { role: 'tool', content: 'two', extra: { tool_call_id: '2' } },
  ])
})

test('images and files of outputs follow the last output as a message of the user', () => {
  const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'f', arguments: '{}' })
  const image = { type: 'input_image', image_url: 'https://example.com/a.png' }
  const file = { type: 'input_file', file_url: 'https://example.com/b.pdf' }
  const outputs = [
    { type: 'function_call_output', call_id: '1', output: [image] },
    {
      type: 'function_call_output',
      call_id: '2',
      output: [{ type: 'input_text', text: 'two' }, image, file],
    },
  ]
  const shown = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }
  const messages = [
    { role: 'tool', content: '[image]', extra: { tool_call_id: '1' } },
    { role: 'tool', content: 'two', extra: { tool_call_id: '2' } },
    {
      role: 'user',
      content: [shown, shown, { type: 'file', file: { file_url: 'https://example.com/b.pdf' } }],
    },
  ]
  const calls = [call('1'), call('2')]
  expect(messagesOf([...calls, ...outputs]).slice(1)).toEqual(messages)
  const next = { role: 'user', content: 'next' }
  const { input } = read({ input: [...calls, ...outputs, next] })
  expect(input.messages.slice(1)).toEqual([...messages, next])
  expect(input.fields).toHaveLength(input.messages.length)
  // What a reference leads to has them already.
  const reference = { type: 'item_reference', id: `msg_${ID}` }
  expect(messagesOf([...calls, ...outputs, reference, next])).toEqual([next])
})

test('calls of custom tools and of a local shell are calls of functions, and a compaction is its text', () => {
  const action = { type: 'exec', command: ['ls'] }
  expect(
    messagesOf([
      { type: 'compaction', encrypted_content: 'x' },
      { type: 'compaction_summary', summary: [{ type: 'summary_text', text: 'We spoke of Ada.' }] },
      { type: 'custom_tool_call', id: 'ctc_1', call_id: '1', name: 'apply_patch', input: '*** Begin' },
      { type: 'custom_tool_call_output', call_id: '1', output: 'Done' },
      { type: 'local_shell_call', id: 'lsh_1', call_id: '2', action, status: 'completed' },
      { type: 'local_shell_call_output', id: 'lsh_1', output: 'a.txt' },
    ]),
  ).toEqual([
    { role: 'user', content: 'We spoke of Ada.' },
    {
      role: 'assistant',
      content: null,
      extra: {
        tool_calls: [
          {
            id: '1',
            type: 'function',
            function: { name: 'apply_patch', arguments: '{"input":"*** Begin"}' },
          },
        ],
      },
    },
    { role: 'tool', content: 'Done', extra: { tool_call_id: '1' } },
    {
      role: 'assistant',
      content: null,
      extra: {
        tool_calls: [
          { id: '2', type: 'function', function: { name: 'local_shell', arguments: JSON.stringify(action) } },
        ],
      },
    },
    { role: 'tool', content: 'a.txt', extra: { tool_call_id: '2' } },
  ])
})

test('a custom tool is a function whose only argument is its text', () => {
  const tool = {
    type: 'custom',
    name: 'apply_patch',
    description: 'Patches files.',
    format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
  }
  const { tools, parameters } = read({ tools: [tool], tool_choice: { type: 'custom', name: 'apply_patch' } })
  expect(tools.honoured).toEqual([tool])
  expect(parameters).toMatchObject({
    tool_choice: { type: 'function', function: { name: 'apply_patch' } },
    tools: [
      {
        type: 'function',
        function: {
          name: 'apply_patch',
          description: 'Patches files.\n\nThe input has this grammar:\n\nstart: "x"',
          parameters: { properties: { input: { type: 'string' } }, required: ['input'] },
        },
      },
    ],
  })
})

test('a reference to our last answer stands for everything before it', () => {
  const { input, continued } = read({
    input: [
      { role: 'system', content: 's' },
      { role: 'user', content: 'first' },
      { type: 'item_reference', id: `msg_${ID}.1` },
      { role: 'user', content: 'second' },
    ],
  })
  expect(input.messages).toEqual([
    { role: 'system', content: 's' },
    { role: 'user', content: 'second' },
  ])
  expect(continued).toEqual([{ callId: ID, field: ['input', 2, 'id'] }])
  expect(read({ previous_response_id: `resp_${ID}` }).continued).toEqual([
    { callId: ID, field: ['previousResponseId'] },
  ])
})

test('every response that is referred to is named once, and the last one is continued', () => {
  const other = ID.replace('0', '1')
  const reference = (id: string) => ({ type: 'item_reference', id })
  const input = [reference(`msg_${ID}`), reference(`msg_${other}`), reference(`msg_${ID}.1`)]
  const namesOf = (more: object) => read(more).continued.map(({ callId }) => callId)
  expect(namesOf({ input })).toEqual([other, ID])
  expect(namesOf({ input: input.slice(0, 1), previous_response_id: `resp_${other}` })).toEqual([ID, other])
})

test('the conversation is named by the header, as a string, as an object or in the metadata, and only one is', () => {
  const id = (more: object, header = '') =>
    conversationOf({ model: 'm', input: 'i', ...more } as never, header)
  expect(id({})).toBe('')
  expect(id({ conversation: 'c', metadata: { conversation_id: 'c' } }, 'c')).toBe('c')
  expect(id({ conversation: { id: 'c' } })).toBe('c')
  expect(id({ metadata: { conversation_id: 'c' } })).toBe('c')
  for (const [more, header] of [
    [{ conversation: 'c' }, 'd'],
    [{ conversation: 'c', metadata: { conversation_id: 'd' } }, ''],
    [{ conversation: 5 }, ''],
    [{ conversation: {} }, ''],
    [{ conversation: {} }, 'c'],
    [{ conversation: { name: 'c' } }, ''],
    [{ conversation: [] }, ''],
    [{ conversation: { id: 5 } }, ''],
  ] as const) {
    expect(() => id(more, header)).toThrow(expect.objectContaining({ reason: 'invalid_request' }))
  }
})

test('parameters have the names of chat completions, and null and empty ones are left out', () => {
  expect(
    read({
      temperature: 0.5,
      top_p: null,
      max_output_tokens: 9,
      reasoning: { effort: 'low', summary: 'auto' },
      text: { format: { type: 'json_schema', name: 'n', schema: {}, strict: true }, verbosity: null },
      tools: [
        { type: 'function', name: 'f', description: null, parameters: {}, strict: null },
        { type: 'web_search' },
        { type: 'namespace' },
      ],
      tool_choice: { type: 'function', name: 'f' },
    }),
  ).toMatchObject({
    parameters: {
      temperature: 0.5,
      max_tokens: 9,
      reasoning_effort: 'low',
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema: {}, strict: true } },
      tools: [{ type: 'function', function: { name: 'f', parameters: {} } }],
      tool_choice: { type: 'function', function: { name: 'f' } },
    },
    tools: { dropped: ['web_search', 'namespace'] },
    functions: { fields: [['tools']], kinds: ['function'] },
    unsupported: [['text']],
  })
  expect(
    read({ instructions: null, previous_response_id: '', text: {}, reasoning: {}, tools: [], include: null }),
  ).toMatchObject({ parameters: {}, unsupported: [], continued: [] })
})

test('how likely tokens were is asked for as the Responses API does it', () => {
  const include = ['message.output_text.logprobs', 'reasoning.encrypted_content']
  expect(read({ include }).parameters).toEqual({ logprobs: true })
  expect(read({ include, top_logprobs: 3 }).parameters).toEqual({ logprobs: true, top_logprobs: 3 })
  expect(read({ top_logprobs: 2 }).parameters).toEqual({ logprobs: true, top_logprobs: 2 })
  expect(read({ top_logprobs: 0 }).parameters).toEqual({})
})

test('what is null or empty is left out, also where it would not be valid', () => {
  const empty = { tool_choice: '', text: '', reasoning: '', metadata: '', temperature: '', store: null }
  expect(withoutEmpty({ model: '', input: '', ...empty, user: 'u' })).toEqual({
    model: '',
    input: '',
    user: 'u',
  })
  expect(withoutEmpty('no object')).toBe('no object')
  expect(messagesOf([{ type: null, role: 'user', content: 'u' }])).toEqual(
    messagesOf([{ type: '', role: 'user', content: 'u' }]),
  )
  const named = { model: 'm', input: 'i', conversation: { id: null }, previous_response_id: `resp_${ID}` }
  expect(conversationOf(named as never, '')).toBe('')
  expect(read(named).continued).toHaveLength(1)
})

test('calls of functions are named, for agents that know none', () => {
  const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }
  expect(read({ input: [{ role: 'user', content: 'u' }, call] }).unsupported).toEqual([['messages', 1]])
})

test.each<[string, object]>([
  ['tools[1].type', { tools: [{ type: 'web_search' }, { name: 'f' }] }],
  ['tools[0].name', { tools: [{ type: 'function', name: '' }] }],
  ['input', { input: 5 }],
  ...[
    'computer_call',
    'computer_call_output',
    'file_search_call',
    'code_interpreter_call',
    'image_generation_call',
    'mcp_call',
    'compaction_trigger',
  ].map((type): [string, object] => ['input[1].type', { input: [{ role: 'user', content: 'u' }, { type }] }]),
  ['input[0].role', { input: [{ role: 'tool', content: 'x' }] }],
  ['input[0].content', { input: [{ role: 'user', content: 5 }] }],
  ['input[0].content[0].type', { input: [{ role: 'user', content: [{ type: 'input_audio' }] }] }],
  [
    'input[0].content[0].file_id',
    { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }] },
  ],
  ['input[0].call_id', { input: [{ type: 'function_call_output', call_id: 'c', output: 'x' }] }],
  ['input[0].call_id', { input: [{ type: 'local_shell_call', action: {} }] }],
  ['input[0].input', { input: [{ type: 'custom_tool_call', call_id: 'c', name: 'f', input: {} }] }],
  [
    'input[1].output[0].type',
    {
      input: [
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: [{ type: 'refusal', refusal: 'x' }] },
      ],
    },
  ],
  ['input[0].id', { input: [{ type: 'item_reference', id: 'msg_other' }] }],
  ['background', { background: true }],
  ['prompt', { prompt: { id: 'p' } }],
  ['previous_response_id', { previous_response_id: 'resp_1', conversation: 'c' }],
  ['conversation', { previous_response_id: 'resp_1', conversation: {} }],
  ['text.format.type', { text: { format: { type: 'grammar' } } }],
  ['tool_choice', { tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } }],
  ['tool_choice', { tools: [{ type: 'web_search' }], tool_choice: 'required' }],
])('what cannot be honoured is refused with the field %s', (field, more) => {
  expect(() => read(more)).toThrow(
    expect.objectContaining({
      reason: 'invalid_request',
      detail: expect.stringContaining(`body.${field}: `),
    }),
  )
})

test('instructions are read once, however many references follow them', () => {
  const instructions = Array.from({ length: 50_000 }, () => ({ role: 'system', content: 's' }))
  const references = Array.from({ length: 50_000 }, () => ({ type: 'item_reference', id: `msg_${ID}` }))
  const { input } = read({
    input: [...instructions, { role: 'user', content: 'u' }, ...references, ...instructions.slice(0, 1)],
  })
  expect(input.messages).toHaveLength(50_001)
  expect(input.fields[0]).toEqual(['input'])
  expect(input.fields.at(-1)).toEqual(['input', 100_001])
})
