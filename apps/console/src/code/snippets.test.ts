import { execFileSync } from 'node:child_process'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { chatSnippets, type SnippetChat } from './snippets.ts'

// A process, because only a shell knows what a shell makes of a quoted argument.

const CHAT: SnippetChat = {
  baseURL: 'https://gateway.example.com',
  agent: 'fastgpt',
  app: 'demo',
  conversationId: 'c1',
  query: 'It\'s "quoted" $HOME `id` \\n\nand on a second line, 你好',
  files: ['https://gateway.example.com/files/a/b.pdf'],
  detail: true,
  apiKey: 'tl_key',
}

test('a shell gives curl exactly the request, whatever is in the query', () => {
  // `printf` stands in for curl and prints each argument it is given, ended by a zero byte.
  const command = chatSnippets(CHAT).curl.replace(/^curl /, "printf '%s\\0' ")
  const words = execFileSync('sh', ['-c', command], { encoding: 'utf8' }).split('\0').slice(0, -1)
  expect(words[1]).toBe('https://gateway.example.com/api/v1/chat')
  expect(words).toContain('authorization: Bearer tl_key')
  expect(words).toContain('agent: fastgpt')
  expect(JSON.parse(words.at(-1) ?? '')).toEqual({
    app_id: 'demo',
    chat_id: 'c1',
    conversation_id: 'c1',
    stream: true,
    detail: true,
    query: CHAT.query,
    files: CHAT.files,
  })
})

test.each([CHAT.query, 'say "hi"', "it's", 'back\\slash', 'both \' and "'])(
  'the literal of %j is that text in JavaScript',
  (query) => {
    const { sdk, typescript } = chatSnippets({ ...CHAT, query, files: [] })
    const literals = [/ {2}query: (.*),$/m.exec(sdk)?.[1], /content: (.*) \}\],$/m.exec(typescript)?.[1]]
    expect(literals.map((literal = '') => runInNewContext(literal))).toEqual([query, query])
  },
)

test('the code of an answer names its question for every program', () => {
  const answer = { pause: 'p1', fields: { note: "it's" } }
  const { curl, sdk, typescript } = chatSnippets({ ...CHAT, query: '', answer })
  expect(curl).toContain('"query":"","answer":{"pause":"p1"')
  const literals = [sdk, typescript].map((code) => /^ +answer: (.*),$/m.exec(code)?.[1] ?? '')
  expect(literals.map((literal) => JSON.parse(literal))).toEqual([answer, answer])
})

test('the code of a chat leaves out what the chat does not have', () => {
  const { sdk, typescript } = chatSnippets({ ...CHAT, app: '', conversationId: '', files: [], detail: false })
  expect(sdk).not.toMatch(/app_id|chat_id|conversation_id|files|detail/)
  expect(typescript).toContain("model: 'fastgpt',")
  expect(typescript).not.toContain('headers')
})

test('the code for Python writes texts, lists and what JSON has other words for as Python does', () => {
  const answer = { pause: 'p1', fields: { note: 'it\'s "fine"\n', sure: true, none: null } }
  const { python } = chatSnippets({ ...CHAT, query: 'say "hi"', answer })
  expect(python.split('\n').slice(2, 9)).toEqual([
    'client = OpenAI(base_url="https://gateway.example.com/api/v1", api_key="tl_key")',
    'stream = client.chat.completions.create(',
    '    model="fastgpt/demo",',
    `    messages=[{"role": "user", "content": [{"type": "text", "text": "say \\"hi\\""}, {"type": "image_url", "image_url": {"url": "${CHAT.files[0]}"}}]}],`,
    '    stream=True,',
    '    extra_body={"answer": {"pause": "p1", "fields": {"note": "it\'s \\"fine\\"\\n", "sure": True, "none": None}}},',
    '    extra_headers={"X-Conversation-Id": "c1"},',
  ])
})
