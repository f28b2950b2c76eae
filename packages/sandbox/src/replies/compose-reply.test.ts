import { expect, test } from 'vitest'
import { composeReply } from './compose-reply.ts'
import { type EmulatorName, parseFaults } from './faults.ts'
import { splitFragments } from './fragments.ts'

const real = { name: 'Dify', platform: 'dify', baseUrl: 'https://dify.example/v1' }

function reply(query: string, earlier: readonly string[] = [], files: readonly string[] = []) {
  return composeReply({ real, faults: parseFaults(query), earlier, files })
}

function textOf(query: string, earlier: readonly string[] = [], files: readonly string[] = []): string {
  return reply(query, earlier, files).fragments.join('')
}

test('the same question gets the same reply, in its own language', () => {
  expect(reply('What is a gateway?')).toEqual(reply('What is a gateway?'))
  expect(textOf('What is a gateway?')).toContain(
    'You asked: “What is a gateway?”\n\nA gateway stands between',
  )
  expect(textOf('什么是网关？')).toContain('你的问题是：“什么是网关？”\n\n网关位于')
})

test('the reply names the platform and how to reach the real one', () => {
  const text = textOf('How do I point Trunkline at the real platform?')
  expect(text).toContain('Hello from the Dify emulator')
  expect(text).toContain('baseUrl: https://dify.example/v1')
  expect(text).toMatch(/apiKey: \$\{DIFY_API_KEY\}/)
})

test.each([
  ['What is my name?', 'My name is Ada', 'Your name is Ada'],
  ['What did I say first?', 'My name is Ada', 'The first thing you said to me was: “My name is Ada”'],
  ['我叫什么？', '我叫小明', '你叫小明'],
])('the question %s is answered from the earlier %s', (question, earlier, answer) => {
  expect(textOf(question, [earlier])).toContain(answer)
  expect(textOf(question)).not.toContain(answer)
})

test('from the second turn on every reply names the turn and how it began', () => {
  expect(textOf('Go on', ['Begin', 'More'])).toContain(
    'This is turn 3 of our conversation; it began with “Begin”.',
  )
})

test('a reply lists the files that it has received', () => {
  expect(textOf('Look', [], ['a.png', 'b.pdf'])).toContain('I received 2 files:\n- a.png\n- b.pdf')
})

test('the fragments of a reply join to its text and split no code point', () => {
  const odd = 'naïve 你好，世界。\n\n👩‍👩‍👧 data: [DONE]\r\n\u2028\t\u0000 end'
  expect(splitFragments(odd).join('')).toBe(odd)
  expect(splitFragments(odd).every((fragment) => fragment.isWellFormed())).toBe(true)
})

test('a reply to what an emulator does not know says so, in the language of the question, with what is known', () => {
  const replyOf = (query: string, emulator: EmulatorName) =>
    composeReply({ real, faults: parseFaults(query, emulator), earlier: [], files: [] }).fragments.join('')
  const elsewhere = replyOf('sandbox:interactive sandbox:echo Hello', 'Coze')
  expect(elsewhere).toMatch(
    /^The Coze emulator does not know `sandbox:interactive`\. Known to: FastGPT, HiAgent, Dify chatflow, and Dify workflow\.\n\nIt knows `sandbox:slow-first`, /,
  )
  expect(elsewhere).toContain('`sandbox:file=beside|alone|ten|relative`, `sandbox:multi`')
  expect(replyOf('sandbox:intractive', 'Dify')).toMatch(
    /^The Dify emulator does not know `sandbox:intractive`\. No emulator does\./,
  )
  expect(replyOf('你好 sandbox:multi', 'Dify')).toMatch(
    /^Dify 的仿真服务不认识 `sandbox:multi`。认识它的是：Coze。/,
  )
})

test('a long reply has the requested number of fragments', () => {
  const { fragments } = reply('sandbox:long=25')
  expect(fragments).toHaveLength(25)
  expect(fragments[9]).toBe('10 网关\n')
})

test('a cut reply is the first half and finishes with length', () => {
  const whole = reply('sandbox:long=10')
  expect(reply('sandbox:long=10 sandbox:length')).toMatchObject({
    finish: 'length',
    fragments: whole.fragments.slice(0, 5),
  })
})
