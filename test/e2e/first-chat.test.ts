import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { apiOf } from '../support/api.ts'
import { startGateway, type TestGateway, trunkline } from '../support/gateway.ts'
import { contentOf } from '../support/stream.ts'

// A process, because a first start, its printed password and the pasted commands are what a newcomer meets.

// Starting a process takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

const bash = (script: string) => promisify(execFile)('bash', ['-c', script])

let gateway: TestGateway
let key: string

beforeAll(async () => {
  // No password is set, so the gateway generates one.
  gateway = await startGateway({ env: { ADMIN_PASSWORD: '' }, isFirstStart: true })
})
afterAll(() => gateway.remove())

/** Returns the printed lines that a user pastes into a shell. */
function linesToPaste(output: string): string[] {
  return output.split('\n').filter((line) => /^ {2}(?:TOKEN=|TRUNKLINE_API_KEY=|curl )/.test(line))
}

test('the first start prints the address of the console, administrator and password, and commands that stream a chat when pasted', async () => {
  const [ready] = await gateway.prints(/Trunkline is ready:.*/)
  expect(ready).toContain(`Trunkline is ready:  ${gateway.url}/console `)
  expect((await fetch(`${gateway.url}/console`)).headers.get('content-type')).toMatch(/^text\/html/)
  expect(gateway.output).toMatch(/^Administrator: +admin$/m)
  expect(gateway.output).toMatch(/^Password: +\S{20} +\(shown only now\)$/m)
  const lines = linesToPaste(gateway.output)
  expect(lines).toHaveLength(5)
  const { stdout } = await bash([...lines, 'echo "KEY=$TRUNKLINE_API_KEY"'].join('\n'))
  const [stream = '', made = ''] = stdout.split('KEY=')
  expect(stream).toMatch(/^data: \{.*\}\n\n/)
  expect(stream).toMatch(/data: \[DONE\]\n\n$/)
  // The last two are a question and its answer.
  expect(stream).toMatch(/"pause":\{"id":"/)
  expect(contentOf(stream)).toContain('You chose “Approve”.')
  key = made.trim()
  expect(key).toMatch(/^tl_\w{49}$/)
})

test('every agent of the first start pauses at sandbox:interactive and goes on with the answer, or names those that do', async () => {
  const api = apiOf(gateway)
  const { body: list } = await api.call('GET', '/api/v1/agents')
  const agents = list.data.items as { id: string; description: string }[]
  const answers: Record<string, string> = { fastgpt: '确认', hiagent: 'Paris', 'dify-chatflow': 'Approve' }
  const others = ['dify', 'coze', 'openai']
  expect(agents.map(({ id }) => id)).toEqual(expect.arrayContaining([...Object.keys(answers), ...others]))
  const ways = agents.flatMap(({ id }) =>
    ['chat', 'completions'].flatMap((face) => [false, true].map((stream) => ({ id, face, stream }))),
  )
  const sayIn = async ({ id, face, stream }: (typeof ways)[number], query: string) => {
    const way = `${id}, ${face}, ${stream ? 'stream' : 'json'}`
    const app_id = id === 'fastgpt' ? 'demo' : ''
    const model = app_id === '' ? id : `${id}/${app_id}`
    const response =
      face === 'chat'
        ? await api.chat(key, id, { app_id, query, chat_id: way, conversation_id: way, stream })
        : await fetch(`${gateway.url}/api/v1/chat/completions`, {
            method: 'POST',
            headers: {
              authorization: `Bearer ${key}`,
              'content-type': 'application/json',
              'x-conversation-id': way,
            },
            body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: query }] }),
          })
    const text = await response.text()
    if (!response.ok) throw new Error(`${way}: ${text}`)
    const content: string = stream ? contentOf(text) : JSON.parse(text).choices[0].message.content
    return { way, content, isPause: text.includes('"pause":{') }
  }
  await Promise.all(
    ways.map(async (each) => {
      const answer = answers[each.id]
      const asked = await sayIn(each, 'sandbox:interactive')
      expect(asked.isPause, asked.way).toBe(answer !== undefined)
      if (answer === undefined) {
        const says =
          /^The \w+ emulator does not know `sandbox:interactive`\. Known to: FastGPT, HiAgent, Dify chatflow, /
        return expect(asked.content, asked.way).toMatch(says)
      }
      const rest = await sayIn(each, answer)
      expect(rest).toMatchObject({ content: expect.stringContaining(`“${answer}”`), isPause: false })
    }),
  )
  for (const { id, description } of agents) {
    expect(description.includes('sandbox:interactive'), id).toBe(answers[id] !== undefined)
  }
})

test('a second process on the same data directory names its owner and exits, and the first keeps running', async (context) => {
  if (gateway.databaseUrl !== undefined) return context.skip('a database server has many clients')
  const { code, output } = await gateway.trunkline('start')
  expect(code).toBe(1)
  expect(output).toMatch(/The data directory \S+ is in use by the process \d+\.$/m)
  expect(output).not.toMatch(/^\s+at /m)
  expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
})

test('the command line works while a gateway is running', async () => {
  const users = await gateway.trunkline('users', 'list', '--json')
  expect([users.code, JSON.parse(users.output)]).toMatchObject([0, [{ username: 'admin', role: 'admin' }]])
  const keys = await gateway.trunkline('keys', 'list', '--json')
  expect([keys.code, JSON.parse(keys.output)]).toMatchObject([0, [{ name: 'first key' }]])
})

test('the command line works without a running gateway', async () => {
  expect(await gateway.stop()).toBe(0)
  const made = await gateway.trunkline('users', 'create', 'ann', '--role', 'premium', '--json')
  expect([made.code, JSON.parse(made.output)]).toMatchObject([
    0,
    { username: 'ann', password: expect.any(String) },
  ])
  const refused = await gateway.trunkline('users', 'create', 'ANN')
  expect([refused.code, refused.output]).toEqual([1, expect.stringMatching(/^<?username>?: is taken\./)])
})

test('a second start keeps users and keys, and prints no password, but how to set one', async () => {
  const before = gateway.output.length
  await gateway.start()
  const printed = gateway.output.slice(before)
  expect(printed).toContain('Trunkline is ready:')
  expect(printed).not.toMatch(/^Password:/m)
  const chat = linesToPaste(printed).at(-1) ?? ''
  const { stdout } = await bash(`TRUNKLINE_API_KEY=${key}\n${chat}`)
  expect(stdout).toMatch(/data: \[DONE\]\n\n$/)
  const users = JSON.parse((await gateway.trunkline('users', 'list', '--json')).output) as {
    username: string
  }[]
  expect(users.map(({ username }) => username).sort()).toEqual(['admin', 'ann'])
  const [, folder = '', command = ''] =
    /^To set a password: .* \| (.*)npx trunkline (.*)$/m.exec(printed) ?? []
  // A database on a server is named by the environment, as it is for the gateway.
  const env =
    gateway.databaseUrl === undefined
      ? { DATA_DIR: /^DATA_DIR='(.*)' $/.exec(folder)?.[1] ?? '' }
      : { DATABASE_URL: gateway.databaseUrl, DATA_DIR: gateway.dataDir }
  const chosen = { username: 'admin', password: 'a password of my own' }
  expect(await trunkline(command.split(' '), { env, input: `${chosen.password}\n` })).toMatchObject({
    code: 0,
  })
  const login = await fetch(`${gateway.url}/api/v1/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(chosen),
  })
  expect(login.status).toBe(200)
  expect(gateway.output).not.toContain(chosen.password)
})
