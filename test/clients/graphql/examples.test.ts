import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Login } from '@trunkline/examples/documents.ts'
import * as plain from '@trunkline/examples/fetch.ts'
import * as sse from '@trunkline/examples/graphql-sse.ts'
import type { Reply } from '@trunkline/examples/reply.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../../support/gateway-with-sandbox.ts'

// A process, because the examples reach a gateway by its address alone, as the programs of readers do.

const ROOT = join(import.meta.dirname, '../../..')

type Input = Parameters<typeof plain.ask>[1]
type Show = Parameters<typeof plain.ask>[2]

interface Example {
  readonly file: string
  logIn?(username: string, password: string): Promise<string | undefined>
  callsByAgent?(token: string, from: string, to: string): ReturnType<typeof plain.callsByAgent>
  ask(key: string, input: Input, show: Show): Promise<Reply>
}

let system: GatewayWithSandbox
let url: string
beforeAll(async () => {
  system = await startGatewayWithSandbox()
  url = `${system.gateway.url}/graphql`
})
afterAll(() => system?.remove())

const EXAMPLES: readonly Example[] = [
  {
    file: 'fetch.ts',
    logIn: (username, password) => plain.logIn(username, password, url),
    callsByAgent: (token, from, to) => plain.callsByAgent(token, from, to, url),
    ask: (key, input, show) => plain.ask(key, input, show, url),
  },
  { file: 'graphql-sse.ts', ask: (key, input, show) => sse.ask(key, input, show, url) },
]

const QUESTION = { agentId: 'fastgpt', appId: 'app-1', query: 'Hello' }

describe.each(EXAMPLES)('the example $file:', ({ logIn, callsByAgent, ask }) => {
  test('a chat grows item by item to the text that REST gives', async () => {
    const shown: Reply[] = []
    await ask(system.key, QUESTION, (reply) => shown.push(reply))
    const reply = await system.api.chat(system.key, 'fastgpt', { chat_id: '' })
    const { choices } = (await reply.json()) as { choices: [{ message: { content: string } }] }
    const conversationId = expect.stringMatching(/\w/)
    expect(shown.at(-1)).toEqual({
      text: choices[0].message.content,
      conversationId,
      isFinished: true,
      pause: null,
    })
    expect(new Set(shown.map(({ text }) => text)).size).toBeGreaterThan(2)
  })

  test('the agent remembers the message before, by the id of the conversation', async () => {
    const question = { ...QUESTION, query: 'My name is Ada.' }
    const { conversationId } = await ask(system.key, question, () => {})
    const next = { ...QUESTION, query: 'What is my name?', conversationId }
    expect((await ask(system.key, next, () => {})).text).toContain('Ada')
  })

  test('a chat that fails after its first text throws, with the code', async () => {
    const shown: Reply[] = []
    const query = 'Hello sandbox:truncate'
    const failed = ask(system.key, { ...QUESTION, query }, (reply) => shown.push(reply))
    expect(codeOf(await failed.catch((error: unknown) => error))).toBe('agent_truncated')
    expect(shown.at(-1)?.text).not.toBe('')
    expect(shown.at(-1)?.isFinished).toBe(false)
  })

  test('a chat that is refused throws, with the code', async () => {
    const refused = ask(system.key, { ...QUESTION, agentId: 'nobody' }, () => {})
    expect(codeOf(await refused.catch((error: unknown) => error))).toBe('unknown_agent')
  })

  test.runIf(logIn !== undefined)(
    'a login gives a token, and one that fails throws, with the code',
    async () => {
      const { username, password } = system.gateway.admin
      expect(await logIn?.(username, password)).toMatch(/^eyJ/)
      const failed = await logIn?.(username, 'another password').catch((error: unknown) => error)
      expect(codeOf(failed)).toBe('login_failed')
    },
  )

  test.runIf(callsByAgent !== undefined)('the calls of a time are counted by agent', async () => {
    const [from, to] = [-1, 1].map((days) => new Date(Date.now() + days * 86_400_000).toISOString())
    const groups = await callsByAgent?.(system.token, from ?? '', to ?? '')
    expect(groups).toEqual([
      expect.objectContaining({
        agentId: 'fastgpt',
        totals: expect.objectContaining({ calls: expect.any(Number) }),
      }),
    ])
  })
})

test('a gateway that trusts the documents of codegen executes these by their id, and no others', async () => {
  const trustedDocuments = join(ROOT, 'examples/generated/persisted-documents.json')
  const strict = await startGatewayWithSandbox({
    settings: { graphql: { documents: 'trusted', trustedDocuments } },
  })
  try {
    const { username, password } = strict.gateway.admin
    const post = (body: object) => strict.api.call('POST', '/graphql', { body })
    const variables = { input: { username, password } }
    const { body: known } = await post({ documentId: Login.__meta__?.hash, variables })
    expect(known.data.login.accessToken).toMatch(/^eyJ/)
    const { body: other } = await post({ query: '{ agents { id } }' })
    expect(codeOf(other.errors[0])).toBe('document_not_trusted')
  } finally {
    await strict.remove()
  }
})

/** The code of an error of any of the clients. */
function codeOf(error: unknown): unknown {
  const { extensions, graphQLErrors, errors } = error as Record<string, [{ extensions?: object }] | undefined>
  const found = graphQLErrors?.[0] ?? errors?.[0] ?? { extensions }
  return (found.extensions as { code?: unknown } | undefined)?.code
}

test.each([
  [
    'graphql-clients.md',
    [
      'codegen.ts',
      'examples/documents.ts',
      'examples/reply.ts',
      ...EXAMPLES.map(({ file }) => `examples/${file}`),
    ],
  ],
  ['chat-page.md', ['examples/react/vite.config.ts', ...examplesIn('react/chats')]],
  ['graphql-react.md', examplesIn('react')],
  ['graphql-apollo.md', examplesIn('react/apollo')],
  ['graphql-urql.md', examplesIn('react/urql')],
])('docs/%s quotes the examples as they are, and all of them', (page, paths) => {
  const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
  const quotes = [...read(`docs/${page}`).matchAll(/^<!-- (\S+) -->\n\n```\w+\n(.*?)^```/gms)]
  for (const [, path = '', text] of quotes) expect(text, path).toBe(read(path))
  expect(quotes.map(([, path]) => path).sort()).toEqual([...paths].sort())
})

function examplesIn(folder: string): string[] {
  return globSync(`examples/${folder}/*.{ts,tsx}`, { cwd: ROOT })
}
