import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask, framesOf, post, readJson, textOf } from '../ask.test-support.ts'
import { type Sandbox, type SandboxAgent, type SandboxPlatform, startSandbox } from '../index.ts'

// Every fault must have the same effect on every platform, so each test runs on all of them.

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox({ delayMs: 0 })
})
afterAll(() => sandbox.close())

const platforms: readonly SandboxPlatform[] = ['fastgpt', 'hiagent', 'dify', 'coze', 'openai']
const ends: Readonly<Record<SandboxPlatform, string>> = {
  fastgpt: 'data: [DONE]\n\n',
  hiagent: '"event":"message_end"',
  dify: '"event":"message_end"',
  coze: 'event:done\ndata:"[DONE]"\n\n',
  openai: 'data: [DONE]\n\n',
}
const ECHO = 'sandbox:echo one 二 three 四 five'
const TEXT = 'one 二 three 四 five'

describe.each(platforms)('%s', (platform) => {
  const stream = async (query: string) => (await ask[platform](sandbox.agents[platform], query)).text()
  const lastRun = () => sandbox.agents[platform].seen.runs.at(-1)

  test('streams the text in fragments up to its end', async () => {
    const bytes = await stream(ECHO)
    expect(textOf(platform, bytes)).toBe(TEXT)
    expect(bytes).toContain(ends[platform])
    expect(lastRun()).toMatchObject({ state: 'finished' })
  })

  test('preserves unusual characters of a text', async () => {
    const odd = 'data: x\n\nevent: y\r\n"\\ \u2028\u2029\u0000 <b>&</b> 👩‍👧 [DONE]\ud800 end'
    expect(textOf(platform, await stream(`sandbox:echo ${odd}`))).toBe(odd)
  })

  test('slow-first and slow delay the reply', async () => {
    const begin = performance.now()
    await stream(`sandbox:slow-first=30 sandbox:slow=5 ${ECHO}`)
    expect(performance.now() - begin).toBeGreaterThanOrEqual(50)
  })

  test('reset breaks the connection after some text', async () => {
    const response = await ask[platform](sandbox.agents[platform], `sandbox:reset ${ECHO}`)
    const { text, error } = await readUntil(response, () => false)
    expect(error).toBeInstanceOf(Error)
    expect(TEXT.startsWith(textOf(platform, text))).toBe(true)
    expect(textOf(platform, text)).not.toBe('')
  })

  test('reset-first breaks the connection before the first byte, and the turn is stored', async () => {
    const query = `sandbox:reset-first ${ECHO}`
    await expect(stream(query)).rejects.toThrow('fetch failed')
    expect(sandbox.agents[platform].seen.turns({ query })).toBe(1)
  })

  test('error=server and error-stored look the same, and only the latter stores the turn', async () => {
    const replies = await Promise.all(
      ['error=server', 'error-stored'].map(async (word) => {
        const query = `sandbox:${word} stored?`
        const response = await ask[platform](sandbox.agents[platform], query)
        const text = (await response.text()).replaceAll(/"(RequestId|logid)":"[^"]*"/g, '')
        return { status: response.status, text, turns: sandbox.agents[platform].seen.turns({ query }) }
      }),
    )
    const [{ turns, ...refused }, { turns: stored, ...failed }] = replies as [Reply, Reply]
    expect(failed).toEqual(refused)
    expect([turns, stored]).toEqual([0, 1])
  })

  test('error-first fails the run without any text before it', async () => {
    const query = `sandbox:error-first ${ECHO}`
    const bytes = await stream(query)
    expect(textOf(platform, bytes)).toBe('')
    expect(framesOf(bytes).length).toBeLessThanOrEqual(2)
    expect(bytes).toMatch(/error|fail/)
    expect(sandbox.agents[platform].seen.turns({ query })).toBe(1)
  })

  test('turns are counted by their query and their conversation', async () => {
    const { seen } = sandbox.agents[platform]
    const [query, other] = [`twice on ${platform}`, `once on ${platform}`]
    for (const each of [query, query, other]) await stream(each)
    expect([seen.turns({ query }), seen.turns({ query: other }), seen.turns({ query: 'never' })]).toEqual([
      2, 1, 0,
    ])
    const conversationId = lastRun()?.conversationId ?? ''
    expect(seen.turns({ query: other, conversationId })).toBe(1)
    expect(seen.turns({ query: other, conversationId: 'another' })).toBe(0)
    expect(seen.turns()).toBe(seen.runs.length)
  })

  test('truncate ends without the end marker', async () => {
    const bytes = await stream(`sandbox:truncate ${ECHO}`)
    expect(TEXT.startsWith(textOf(platform, bytes))).toBe(true)
    expect(bytes).not.toContain(ends[platform])
  })

  test('malformed puts a frame that is not JSON among good ones', async () => {
    const bytes = await stream(`sandbox:malformed ${ECHO}`)
    const broken = framesOf(bytes).filter(({ data }) => data.startsWith('{') && !isJson(data))
    expect(broken).toHaveLength(1)
    expect(bytes).toContain(ends[platform])
  })

  test('empty succeeds without a text', async () => {
    const bytes = await stream('sandbox:empty')
    expect(textOf(platform, bytes)).toBe('')
    expect(bytes).toContain(ends[platform])
  })

  test('html is a proxy’s page with the status that is asked for', async () => {
    const bad = await ask[platform](sandbox.agents[platform], 'sandbox:html')
    expect([bad.status, bad.headers.get('content-type')]).toEqual([502, 'text/html'])
    const busy = await ask[platform](sandbox.agents[platform], 'sandbox:html=503')
    expect([busy.status, busy.headers.get('content-type')]).toEqual([503, 'text/html'])
    const good = await ask[platform](sandbox.agents[platform], 'sandbox:html-200')
    expect([good.status, (await good.text()).startsWith('<html>')]).toEqual([200, true])
  })

  test('error-midstream sends some text and no successful end', async () => {
    const bytes = await stream(`sandbox:error-midstream ${ECHO}`)
    expect(TEXT.startsWith(textOf(platform, bytes))).toBe(true)
    expect(textOf(platform, bytes)).not.toBe('')
    expect(bytes).toMatch(/error|failed/)
  })

  test('an endless line does not end', async () => {
    const response = await ask[platform](sandbox.agents[platform], `sandbox:endless-line ${ECHO}`)
    const { text } = await readUntil(response, (seen) => seen.length > 1_000_000)
    expect(text.slice(text.indexOf('data: endless'))).not.toContain('\n')
  })

  test('silence follows the first fragment', async () => {
    const response = await ask[platform](sandbox.agents[platform], `sandbox:silence ${ECHO}`)
    const { text } = await readUntil(response, (seen) => textOf(platform, seen) !== '')
    expect(textOf(platform, text)).toBe('one')
    expect(text).not.toContain(ends[platform])
  })

  test('pings sends heartbeats only', async () => {
    const response = await ask[platform](sandbox.agents[platform], 'sandbox:pings=1')
    const { text } = await readUntil(response, (seen) => seen.split('\n\n').length > 8)
    expect(textOf(platform, text)).toBe('')
  })

  test('hang sends no byte until the client disconnects', async () => {
    const { seen } = sandbox.agents[platform]
    const leaving = new AbortController()
    const known = lastRun()
    const answer = ask[platform](sandbox.agents[platform], 'sandbox:hang', { signal: leaving.signal })
    const run = await seen.waitFor(({ runs }) => runs.at(-1) !== known && runs.at(-1))
    expect(run.state).toBe('running')
    leaving.abort()
    await expect(answer).rejects.toThrow('aborted')
  })
})

describe.each(['fastgpt', 'hiagent', 'dify', 'openai'] as const)('%s unstreamed', (platform) => {
  const whole = (query: string) => ask[platform](sandbox.agents[platform], query, { stream: false })

  test('answers in one body', async () => {
    const body = await readJson(await whole(ECHO))
    expect(JSON.stringify(body)).toContain(JSON.stringify(TEXT))
  })

  test.each(['sandbox:truncate', 'sandbox:malformed'])('answers %s with half a body', async (word) => {
    await expect(readJson(await whole(`${word} ${ECHO}`))).rejects.toThrow(SyntaxError)
  })

  test('breaks the connection at reset', async () => {
    await expect(whole(`sandbox:reset ${ECHO}`).then((response) => response.text())).rejects.toThrow()
  })

  test('answers error-midstream with an error, not a text', async () => {
    const body = JSON.stringify(await readJson(await whole(`sandbox:error-midstream ${ECHO}`)))
    expect(body).toMatch(/error/i)
    expect(body).not.toContain('two')
  })
})

test.each(['fastgpt', 'openai'] as const)(
  '%s gives up a run when its connection closes',
  async (platform) => {
    const agent = sandbox.agents[platform]
    const run = await leaveMidway(platform, agent, `sandbox:slow=20 ${ECHO}`)
    await agent.seen.waitFor(() => run.state === 'aborted')
  },
)

test.each(['dify', 'coze', 'hiagent'] as const)('%s ends a run without its connection', async (platform) => {
  const agent = sandbox.agents[platform]
  const run = await leaveMidway(platform, agent, `sandbox:slow=20 ${ECHO}`)
  await agent.seen.waitFor(() => run.state === 'finished')
})

test('closing a sandbox ends open streams and their runs at once', async () => {
  const own = await startSandbox({ delayMs: 0 })
  const timers = pendingTimers()
  const { dify, openai } = own.agents
  const responses = [
    await ask.dify(dify, `sandbox:silence ${ECHO}`),
    await ask.dify(dify, `sandbox:slow=60000 ${ECHO}`),
    await ask.openai(openai, 'sandbox:pings'),
  ]
  await own.close()
  // A timer of a test before may have ended meanwhile.
  expect(pendingTimers()).toBeLessThanOrEqual(timers)
  for (const response of responses) {
    expect((await readUntil(response, () => false)).error).toBeInstanceOf(Error)
  }
  expect([...dify.seen.runs, ...openai.seen.runs].map(({ state }) => state)).toEqual([
    'aborted',
    'aborted',
    'aborted',
  ])
})

test('the start of a sandbox rejects and closes everything if a port is in use', async () => {
  const port = Number(new URL(sandbox.agents.dify.baseUrl).port)
  await expect(startSandbox({ ports: { dify: port } })).rejects.toThrow('EADDRINUSE')
})

test('a sandbox logs received requests with method, path, query, headers and body', async () => {
  const { coze } = sandbox.agents
  await post(coze, '/v1/conversation/create?a=b', { meta_data: { c: 'd' } })
  expect(coze.seen.requests.at(-1)).toMatchObject({
    method: 'POST',
    path: '/v1/conversation/create',
    query: { a: 'b' },
    headers: { authorization: `Bearer ${coze.apiKey}` },
    body: { meta_data: { c: 'd' } },
  })
})

async function leaveMidway(platform: SandboxPlatform, agent: SandboxAgent, query: string) {
  const leaving = new AbortController()
  const question = { signal: leaving.signal }
  const response = await ask[platform](agent, query, question)
  const run = agent.seen.runs.at(-1)
  if (!run) throw new Error('no run')
  await readUntil(response, (seen) => textOf(platform, seen) !== '')
  leaving.abort()
  return run
}

/** Reads until `enough` returns true, then disconnects. */
async function readUntil(response: Response, enough: (seen: string) => boolean) {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true })
      if (enough(text)) break
    }
  } catch (error) {
    return { text, error }
  }
  return { text, error: undefined }
}

/** Counts the timers that would keep the process alive. */
function pendingTimers(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

interface Reply {
  readonly status: number
  readonly text: string
  readonly turns: number
}
