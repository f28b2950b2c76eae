import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { apiOf } from '../../support/api.ts'
import { startGateway } from '../../support/gateway.ts'
import { contentOf, framesOf, readerOf } from '../../support/stream.ts'
import { until } from '../../support/until.ts'
import { uploadFile } from '../../support/uploads.ts'
import { startModel } from './model.ts'
import { type Exchange, startWire } from './wire.ts'

/*
 * Tries the gateway against an agent of Mastra, as a user would over HTTP. It prints a line for each check, and ends with 1 if one of
 * them fails. `--record <folder>` writes what gateway and agent have sent each other into a folder.
 */

const { values } = parseArgs({ options: { record: { type: 'string' } } })

const PATH = '/api/a2a/helper'
/** Streams, as Mastra's own card says that it does. */
const AGENT = 'mastra'
/** The same agent by a card that says nothing of streams. */
const WHOLE = 'whole'

const data = await mkdtemp(join(tmpdir(), 'trunkline-mastra-'))
const model = await startModel()
const mastra = await startMastra()
const wire = await startWire(mastra.origin)
const gateway = await startGateway({
  config: JSON.stringify({
    limits: { chat: { points: 100_000 } },
    agents: {
      [AGENT]: {
        ...{ platform: 'a2a', baseUrl: wire.origin, breaker: false },
        card: `${wire.origin}/api/.well-known/helper/agent-card.json`,
      },
      [WHOLE]: {
        ...{ platform: 'a2a', baseUrl: wire.origin, breaker: false },
        card: { url: PATH, preferredTransport: 'JSONRPC', protocolVersion: '0.3.0', capabilities: {} },
      },
    },
  }),
  isOnDisk: true,
})
const api = apiOf(gateway)
const key = (await api.createKey(await api.login(), { permissions: ['chat', 'upload'] })).full_key

/** Starts the server in a process of its own. */
async function startMastra() {
  const program = join(import.meta.dirname, 'server.mjs')
  const child = spawn(process.execPath, [program, '--model', model.url, '--data', data], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH ?? '', MASTRA_TELEMETRY_DISABLED: '1' },
  })
  process.once('exit', () => child.kill('SIGKILL'))
  let errors = ''
  child.stderr.on('data', (piece) => {
    errors += piece
  })
  const exited = once(child, 'exit')
  for await (const line of createInterface({ input: child.stdout })) {
    const [, origin] = /^listening on (\S+)$/.exec(line) ?? []
    if (origin === undefined) continue
    child.stdout.resume()
    return {
      origin,
      async stop() {
        child.kill('SIGKILL')
        await exited
      },
    }
  }
  throw new Error(`Mastra has not started:\n${errors}`)
}

// biome-ignore lint/suspicious/noExplicitAny: replies are read as they come
type Json = any

/** What a client has of a reply, whether it was a stream or not. */
interface Told {
  readonly status: number
  readonly body: Json
  readonly text: string
  readonly pause: Json
}

interface Asked {
  readonly agent?: string
  readonly chat?: string
  readonly stream?: boolean
  readonly answer?: object
  readonly variables?: object
  readonly files?: readonly string[]
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
}

function send(query: string, { agent = AGENT, chat = randomUUID(), ...asked }: Asked = {}) {
  const { idempotencyKey, signal, ...more } = asked
  const headers: Record<string, string> =
    idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
  const body = { app_id: '', chat_id: chat, query, ...more }
  return api.chat(key, agent, body, { headers, ...(signal && { signal }) })
}

async function ask(query: string, asked: Asked = {}): Promise<Told> {
  const response = await send(query, asked)
  const { status, headers } = response
  const text = await response.text()
  if (headers.get('content-type')?.includes('json') === true) {
    const body = JSON.parse(text)
    return { status, body, text: body.choices?.[0]?.message.content ?? '', pause: body.pause }
  }
  const frames = framesOf(text)
  const last = frames.find(({ choices }) => choices?.[0]?.finish_reason != null)
  return { status, body: frames.at(-1), text: contentOf(text), pause: last?.pause }
}

/** The exchanges of messages and cancellations since a moment. */
function sentSince(start: number): readonly Exchange[] {
  return wire.exchanges.slice(start).filter(({ method }) => method === 'POST')
}

const paramsOf = ({ request }: Exchange): Json => JSON.parse(request).params
const methodOf = ({ request }: Exchange): string => JSON.parse(request).method

/** The id of the task of a reply. */
function taskOf({ reply }: Exchange): string {
  return /"result":\{"id":"([^"]+)"/.exec(reply)?.[1] ?? ''
}

/** Asks Mastra itself, without the gateway. */
async function rpc(method: string, id: string): Promise<Json> {
  const response = await fetch(mastra.origin + PATH, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { id } }),
  })
  return response.json()
}

async function becomes(id: string, state: string): Promise<void> {
  await until(`the task is ${state}`, async () => (await rpc('tasks/get', id)).result?.status.state === state)
}

/** Where the recordings of each check begin. */
const begins: { name: string; start: number }[] = []
let failures = 0

async function check(name: string, run: (start: number) => Promise<void>): Promise<void> {
  const start = wire.exchanges.length
  begins.push({ name, start })
  try {
    await run(start)
    console.log(`ok ${name}`)
  } catch (error) {
    failures += 1
    console.log(`FAILED ${name}\n${error instanceof Error ? error.message : error}`)
  }
}

await check('the list of agents says that it is available', async () => {
  const { body } = await api.call('GET', '/api/v1/agents', { token: key })
  const item = body.data.items.find(({ id }: { id: string }) => id === AGENT)
  assert.deepEqual([item.platform, item.status], ['a2a', 'available'])
})

for (const agent of [AGENT, WHOLE]) {
  await check(`${agent}: a reply as JSON`, async () => {
    const { status, text } = await ask('Hi 你好 🙂', { agent })
    assert.deepEqual([status, text], [200, 'You said: Hi 你好 🙂'])
  })

  await check(`${agent}: a reply as a stream`, async () => {
    const response = await send('one two three four', { agent, stream: true })
    const stream = await response.text()
    assert.equal(contentOf(stream), 'You said: one two three four')
    assert.match(stream, /"finish_reason":"stop"[\s\S]*\[DONE\]\s*$/)
    if (agent === AGENT) assert.ok(framesOf(stream).length >= 5, 'it comes in pieces')
  })

  await check(`${agent}: three turns of a conversation, and another one knows nothing of them`, async () => {
    const chat = randomUUID()
    await ask('My name is Ada.', { agent, chat })
    await ask('I live in Turin.', { agent, chat })
    const { text } = await ask('recall everything', { agent, chat })
    assert.equal(text, 'You asked: My name is Ada. | I live in Turin. | recall everything')
    assert.equal((await ask('recall everything', { agent })).text, 'You asked: recall everything')
  })
}

for (const agent of [AGENT, WHOLE]) {
  await check(`${agent}: a file that was uploaded reaches the model`, async () => {
    const { url } = await uploadFile(gateway.url, key, 'Its content 你好', 'note.txt')
    assert.equal((await ask('read: ', { agent, files: [url] })).text, 'You said: read: Its content 你好')
  })

  await check(`${agent}: variables, which Mastra does not take, fail in the agent`, async () => {
    const { status, body } = await ask('Hello', { agent, variables: { city: 'Turin' } })
    assert.deepEqual([status, body.reason], [502, 'agent_error'])
  })
}

await check('tokens are counted where Mastra reports them, which is not in a stream', async () => {
  const { body } = await ask('Hello', { agent: WHOLE })
  const { prompt_tokens, completion_tokens, total_tokens } = body.usage
  assert.deepEqual([prompt_tokens, completion_tokens, total_tokens], [11, 7, 18])
  assert.equal((await ask('Hello')).body.usage ?? null, null)
})

for (const agent of [AGENT, WHOLE]) {
  await check(
    `${agent}: a model that fails is a failure of the agent, whose program is not shown`,
    async () => {
      for (const query of ['fail=500', 'fail=400', 'fail=401', 'fail=429', 'cut']) {
        const { status, body } = await ask(query, { agent })
        assert.deepEqual([query, status, body.reason], [query, 502, 'agent_error'])
        assert.doesNotMatch(JSON.stringify(body), /node_modules|\.mjs|\.js:/)
      }
    },
  )
}

await check('a stream whose model fails amid its answer ends with the failure', async () => {
  const stream = await (await send('cut', { stream: true })).text()
  assert.match(contentOf(stream), /^This is only/)
  assert.match(stream, /"error":\{[^\n]*agent_error/)
})

await check('a client that leaves stops the model and cancels the task', async (start) => {
  const leaving = new AbortController()
  const query = `slow ${randomUUID()}`
  await readerOf(await send(query, { stream: true, signal: leaving.signal })).until(/"5 "/)
  leaving.abort()
  await until(
    'the model is left',
    () => model.calls.find((call) => call.question === query)?.state === 'left',
  )
  const [first] = sentSince(start)
  assert.ok(first)
  await becomes(taskOf(first), 'canceled')
  await until('the gateway says so', () => sentSince(start).some((sent) => methodOf(sent) === 'tasks/cancel'))
})

/**
 * What the model says when the tool has run. Where nothing streams, Mastra sends what was said before the pause with the rest of the
 * run.
 */
const REFUNDED = /^(?:Let me see\. )?The tool says: \{"refunded":"order 7"\}$/

/** Asks for a refund, which waits for an approval. */
async function askForRefund(agent: string, start: number) {
  const chat = randomUUID()
  const { status, text, pause } = await ask('refund', { agent, chat })
  assert.equal(status, 200)
  assert.match(pause?.id, /^[0-9a-f-]{36}$/)
  const [first] = sentSince(start)
  assert.ok(first)
  const say = (answer: object, query = '') =>
    ask(query, { agent, chat, answer: { pause: pause.id, ...answer } })
  return { chat, text, pause, say, taskId: taskOf(first) }
}

for (const agent of [AGENT, WHOLE]) {
  await check(
    `${agent}: a tool that needs approval is a pause with the fields of its form`,
    async (start) => {
      const { pause, text } = await askForRefund(agent, start)
      assert.ok(text.includes(pause.question))
      const fields = pause.fields.map(({ name, type, required }: Json) => [name, type, required])
      assert.deepEqual(fields, [
        ['approved', 'checkbox', true],
        ['reason', 'text', false],
      ])
      assert.deepEqual(pause.options, [])
    },
  )

  await check(`${agent}: a plain text is no answer, and is not sent`, async (start) => {
    const { chat, say } = await askForRefund(agent, start)
    const before = wire.exchanges.length
    for (const { status, body } of [
      await ask('yes', { agent, chat }),
      await say({ fields: { reason: 'no decision' } }),
      await say({ fields: { approved: 'perhaps' } }),
    ])
      assert.deepEqual([status, body.reason], [400, 'answer_required'])
    assert.equal(wire.exchanges.length, before)
  })

  await check(`${agent}: an approval goes on in the same task, as data`, async (start) => {
    const { say, taskId, chat } = await askForRefund(agent, start)
    const { status, text, pause } = await say({ fields: { approved: true } })
    assert.deepEqual([status, pause], [200, undefined])
    assert.match(text, REFUNDED)
    const message = paramsOf(sentSince(start)[1] as Exchange).message
    assert.equal(message.taskId, taskId)
    assert.deepEqual(message.parts, [{ kind: 'data', data: { approved: true } }])
    const again = await say({ fields: { approved: true } })
    assert.deepEqual([again.status, again.body.reason], [409, 'pause_over'])
    assert.equal((await ask('recall', { agent, chat })).text, 'You asked: refund | recall')
  })

  await check(`${agent}: the same by the JSON of an answer`, async (start) => {
    const { chat } = await askForRefund(agent, start)
    const { status, text } = await ask('{"approved": true}', { agent, chat })
    assert.equal(status, 200)
    assert.match(text, REFUNDED)
  })

  await check(`${agent}: a refusal declines the tool, with its reason`, async (start) => {
    const { say } = await askForRefund(agent, start)
    const { status, text } = await say({ fields: { approved: false, reason: 'Too much.' } })
    assert.equal(status, 200)
    assert.match(text, /The tool says: Too much\.$/)
  })

  await check(`${agent}: giving up cancels the task, and the conversation goes on`, async (start) => {
    const { say, taskId, chat } = await askForRefund(agent, start)
    const { status, text } = await say({ cancel: true })
    assert.deepEqual([status, text], [200, ''])
    await becomes(taskId, 'canceled')
    assert.equal((await ask('Hello again', { agent, chat })).text, 'You said: Hello again')
  })

  await check(`${agent}: a task that somebody else has cancelled is a pause that is over`, async (start) => {
    const { say, taskId } = await askForRefund(agent, start)
    await rpc('tasks/cancel', taskId)
    const { status, body } = await say({ fields: { approved: true } })
    assert.deepEqual([status, body.reason], [409, 'pause_over'])
  })

  await check(`${agent}: a form of a tool's own has its fields, and is answered`, async () => {
    const chat = randomUUID()
    const { pause } = await ask('ship', { agent, chat })
    assert.equal(pause.question, 'How shall order 7 be shipped?\n\nship {"order":"order 7"}')
    assert.deepEqual(
      pause.fields.map(({ name, type, required, options }: Json) => [name, type, required, options]),
      [
        ['speed', 'select', true, ['slow', 'fast']],
        ['note', 'text', false, undefined],
      ],
    )
    const say = (speed: string) =>
      ask('', { agent, chat, answer: { pause: pause.id, fields: { speed, note: 'Ring 你好' } } })
    assert.equal((await say('sideways')).body.reason, 'answer_required')
    assert.equal((await say('fast')).text, 'The tool says: {"shipped":"order 7, fast, Ring 你好"}')
  })
}

await check('a kept call goes on without its client, and is repeated to whoever asks again', async () => {
  const query = `keep this ${randomUUID()}`
  const asked = { idempotencyKey: randomUUID(), chat: randomUUID(), stream: true }
  const leaving = new AbortController()
  await send(query, { ...asked, signal: leaving.signal })
  leaving.abort()
  const [first, second] = [await ask(query, asked), await ask(query, asked)]
  assert.deepEqual([first.status, first.text, second.text], [200, `You said: ${query}`, first.text])
  assert.equal(model.calls.filter((call) => call.question === query).length, 1)
})

await check('a kept call that pauses is repeated with its pause, and answered once', async (start) => {
  const asked = { idempotencyKey: randomUUID(), chat: randomUUID() }
  const [first, second] = [await ask('refund', asked), await ask('refund', asked)]
  assert.deepEqual(first.pause, second.pause)
  const answer = { pause: first.pause.id, fields: { approved: true } }
  const answered = { chat: asked.chat, idempotencyKey: randomUUID(), answer }
  const all = await Promise.all([1, 2, 3].map(() => ask('', answered)))
  for (const { status, text } of all) {
    assert.equal(status, 200)
    assert.match(text, REFUNDED)
  }
  assert.equal(sentSince(start).length, 2)
})

await check('a kept call that is stopped cancels the task', async (start) => {
  const query = `slow ${randomUUID()}`
  const response = await send(query, { stream: true, idempotencyKey: randomUUID() })
  await readerOf(response).until(/"5 "/)
  const path = `/api/v1/calls/${response.headers.get('x-call-id')}/stop`
  assert.equal((await api.call('POST', path, { token: key })).status, 200)
  await until(
    'the model is left',
    () => model.calls.find((call) => call.question === query)?.state === 'left',
  )
  const [first] = sentSince(start)
  assert.ok(first)
  await becomes(taskOf(first), 'canceled')
})

if (values.record !== undefined) await record(values.record)
await gateway.remove()
await Promise.all([wire.close(), mastra.stop(), model.close()])
await rm(data, { recursive: true, force: true })
console.log(failures === 0 ? 'all ok' : `${failures} failed`)
process.exitCode = failures === 0 ? 0 : 1

/** Writes each reply into a file, and an index of what was sent for it. */
async function record(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const index = wire.exchanges.map(({ reply, ...exchange }, number) => {
    const name = begins.findLast(({ start }) => start <= number)?.name ?? 'start'
    const slug = name.toLowerCase().replace(/[^a-z0-9]+/g, '-')
    return {
      file: `${String(number).padStart(3, '0')}-${slug.slice(0, 60)}.txt`,
      check: name,
      ...exchange,
      reply,
    }
  })
  for (const { file, reply } of index) await writeFile(join(folder, file), reply)
  const rows = index.map(({ reply: _reply, ...row }) => row)
  await writeFile(join(folder, 'index.json'), `${JSON.stringify(rows, undefined, 2)}\n`)
}
