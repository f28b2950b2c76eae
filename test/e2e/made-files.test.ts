import { randomUUID } from 'node:crypto'
import { type Sandbox, type SandboxPlatform, startSandbox } from '@trunkline/sandbox'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, apiOf } from '../support/api.ts'
import { askOnFace, FACES, type Face, MODES, type Mode, waysOf } from '../support/ask-on-face.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { framesOf } from '../support/stream.ts'

// A process, because the gateway fetches files and serves them under its own address, and nothing may stand in for these.

const AGENTS = ['chat', 'chatflow', 'workflow', 'coze', 'fastgpt', 'openai'] as const
type Agent = (typeof AGENTS)[number]
/** How an entry is set up; the plain one says nothing of files. */
const SETUPS = ['plain', 'located', 'keeping', 'guarded'] as const
type Setup = (typeof SETUPS)[number]

const PLATFORMS = {
  chat: 'dify',
  agent: 'dify',
  chatflow: 'dify',
  workflow: 'dify',
  coze: 'coze',
  fastgpt: 'fastgpt',
  openai: 'openai',
} as const satisfies Record<Agent | 'agent', SandboxPlatform>

let sandbox: Sandbox
let gateway: TestGateway
let api: Api
let key: { full_key: string; owner_id: string }

/** Where the emulator serves the files that it makes. */
const originOf = (agent: keyof typeof PLATFORMS) => new URL(sandbox.agents[PLATFORMS[agent]].baseUrl).origin
const entryId = (agent: keyof typeof PLATFORMS, setup: Setup) => `${agent}-${setup}`

function entryOf(agent: keyof typeof PLATFORMS, setup: Setup): object {
  const platform = PLATFORMS[agent]
  const { baseUrl, apiKey, options, keys, appId } = sandbox.agents[platform]
  return {
    ...{ platform, baseUrl, ...options },
    apiKey: platform === 'dify' ? keys[agent] : apiKey,
    ...(agent === 'workflow' && { mode: 'workflow' }),
    ...(agent === 'fastgpt' && { apps: { [appId ?? '']: {} } }),
    ...((setup === 'located' || setup === 'keeping') && { filesUrl: originOf(agent) }),
    ...((setup === 'keeping' || setup === 'guarded') && { keepFiles: true }),
  }
}

beforeAll(async () => {
  sandbox = await startSandbox({ delayMs: 0 })
  const agents = Object.fromEntries(
    ([...AGENTS, 'agent'] as const).flatMap((agent) =>
      SETUPS.map((setup) => [entryId(agent, setup), entryOf(agent, setup)]),
    ),
  )
  const plenty = { points: 100_000 }
  gateway = await startGateway({
    config: JSON.stringify({ limits: { chat: plenty, calls: plenty, login: plenty }, agents }),
    isOnDisk: true,
  })
  api = apiOf(gateway)
  key = await api.createKey(await api.login(), { permissions: ['chat', 'upload'] })
})
afterAll(async () => {
  await gateway?.remove()
  await sandbox?.close()
})

const send = (agent: string, face: Face, mode: Mode, query: string) =>
  askOnFace({ url: gateway.url, key: key.full_key, agent, face, mode, message: { query } })

const markdown = (name: string | undefined, url: string) => `![${name ?? ''}](${url})`
const timesIn = (text: string, part: string) => text.split(part).length - 1

const WAYS = waysOf(AGENTS)

describe.each(WAYS)('$agent, $face, $mode', ({ agent, face, mode }) => {
  const ask = (query: string, setup: Setup = 'plain') => send(entryId(agent, setup), face, mode, query)
  const chart = () => `${originOf(agent)}/made-files/chart.png`

  test('a picture alone is a success, whose text shows it', async () => {
    const { status, text, files } = await ask('sandbox:file=alone')
    expect(status).toBe(200)
    expect(text).toMatch(/^!\[[^\]]*\]\([^)]*\)$/)
    expect(text).toContain(`](${chart()})`)
    expect(files).toEqual([expect.objectContaining({ type: 'image', url: chart() })])
    expect(text).toBe(markdown(files[0]?.name, chart()))
  })

  test('a picture beside a text follows it on a line of its own', async () => {
    const { text, files } = await ask('sandbox:file sandbox:echo Here it is.')
    expect(text).toMatch(/^Here it is\.\n\n!\[[^\]]*\]\([^)]*\)$/)
    expect(text).toContain(`](${chart()})`)
    expect(files).toMatchObject([{ type: 'image', url: chart() }])
  })

  test('ten files are ten, each once', async () => {
    const { text, files } = await ask('sandbox:file=ten sandbox:echo Ten.')
    const names = [1, 2, 3, 4, 5].flatMap((n) => [`chart-${n}.png`, `report-${n}.pdf`])
    for (const name of names) expect(timesIn(text, `](${originOf(agent)}/made-files/${name})`)).toBe(1)
    expect(timesIn(text, '](')).toBe(10)
    const urls = names.map((name) => `${originOf(agent)}/made-files/${name}`)
    expect(files.map(({ url }) => url).toSorted()).toEqual(urls.toSorted())
    expect(files.map(({ type }) => type).toSorted()).toEqual([
      ...Array(5).fill('document'),
      ...Array(5).fill('image'),
    ])
  })

  test('a relative URL gets the origin of filesUrl', async () => {
    const { text, files } = await ask('sandbox:file=relative sandbox:echo See', 'located')
    expect(timesIn(text, `](${chart()})`)).toBe(1)
    expect(files).toMatchObject([{ type: 'image', url: chart() }])
  })

  test('a relative URL of a private address is named without a URL', async () => {
    const { status, text, files } = await ask('sandbox:file=relative sandbox:echo See')
    expect(status).toBe(200)
    expect(text).toMatch(/^See\n\n(?:image|chart\.png)$/)
    expect(files).toMatchObject([{ type: 'image' }])
    expect(files[0]).not.toHaveProperty('url')
  })

  test('one that the text has already is not repeated', async () => {
    const said = `Look: ![the chart](${chart()}) there`
    const { text, files } = await ask(`sandbox:file sandbox:echo ${said}`)
    expect(text).toBe(said)
    expect(files).toMatchObject([{ type: 'image', url: chart() }])
  })
})

describe.each(FACES.flatMap((face) => MODES.map((mode) => ({ face, mode }))))('$face, $mode', (way) => {
  test.each(['chat', 'chatflow', 'workflow'] as const)(
    "%s: the user's own file is no answer",
    async (agent) => {
      const told = await send(entryId(agent, 'plain'), way.face, way.mode, 'sandbox:file=mine')
      expect(told.reason).toBe('agent_empty_reply')
      expect(told.text).toBe('')
    },
  )

  test('a text that follows a picture begins on a line of its own', async () => {
    const query = 'sandbox:file sandbox:echo And so on.'
    const { text, files } = await send(entryId('agent', 'plain'), way.face, way.mode, query)
    const url = `${originOf('agent')}/made-files/chart.png`
    expect(text).toBe(`![](${url})\n\nAnd so on.`)
    expect(files).toMatchObject([{ type: 'image', url }])
  })

  test('ten files that are kept are ten uploads', async () => {
    const query = 'sandbox:file=ten sandbox:echo Ten.'
    const { text } = await send(entryId('openai', 'keeping'), way.face, way.mode, query)
    const urls = [...text.matchAll(/\]\(([^)]*)\)/g)].map(([, url = '']) => url)
    expect(new Set(urls).size).toBe(10)
    const { body } = await api.call('GET', '/api/v1/uploads?limit=10', { token: key.full_key })
    expect(body.data.items.map(({ url }: { url: string }) => url).toSorted()).toEqual(urls.toSorted())
  })

  test('bytes are named without a URL where files are not kept', async () => {
    const { text, files } = await send(
      ...([entryId('openai', 'located'), way.face, way.mode, 'sandbox:file=bytes sandbox:echo See'] as const),
    )
    expect(text).toBe('See\n\nimage')
    expect(files).toMatchObject([{ type: 'image' }])
    expect(files[0]).not.toHaveProperty('url')
  })

  test('bytes that are kept have a URL of the gateway', async () => {
    const { text } = await send(
      ...([entryId('openai', 'keeping'), way.face, way.mode, 'sandbox:file=bytes sandbox:echo See'] as const),
    )
    expect(await contentAt(urlIn(text))).toEqual(await contentAt(`${originOf('openai')}/made-files/a.png`))
  })
})

const urlIn = (text: string) => /!\[[^\]]*\]\(([^)]*)\)$/.exec(text)?.[1] ?? ''

async function contentAt(url: string): Promise<Buffer> {
  const response = await fetch(url)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('image/png')
  return Buffer.from(await response.arrayBuffer())
}

test.each(AGENTS)('%s: a file is a step of the progress as it comes', async (agent) => {
  const response = await api.chat(key.full_key, entryId(agent, 'plain'), {
    ...{ app_id: '', chat_id: '', conversation_id: `c-${randomUUID()}` },
    ...{ stream: true, detail: true, query: 'sandbox:file sandbox:echo Here.' },
  })
  const steps = framesOf(await response.text()).flatMap(({ detail }) =>
    detail?.type === 'file' ? [detail] : [],
  )
  const url = `${originOf(agent)}/made-files/chart.png`
  expect(steps).toMatchObject([{ type: 'file', data: { type: 'image', url } }])
})

describe('files that the gateway keeps', () => {
  test.each(WAYS)(
    '$agent, $face, $mode: the URL is the gateway’s, and an upload of the owner',
    async (way) => {
      const { agent, face, mode } = way
      const { requests } = sandbox.agents[PLATFORMS[agent]].seen
      const before = requests.length
      const id = entryId(agent, 'keeping')
      const { text, files } = await send(id, face, mode, 'sandbox:file=relative sandbox:echo Kept.')
      const url = urlIn(text)
      expect(new URL(url).origin).toBe(new URL(gateway.url).origin)
      expect(text).not.toContain('/made-files/')
      expect(files).toMatchObject([{ type: 'image', url }])
      const [fetched, ...others] = requests
        .slice(before)
        .filter(({ path }) => path.startsWith('/made-files/'))
      expect(others).toEqual([])
      expect(fetched?.headers).not.toHaveProperty('authorization')
      expect(await contentAt(url)).toEqual(await contentAt(`${originOf(agent)}/made-files/chart.png`))
      const { body } = await api.call('GET', '/api/v1/uploads?limit=1', { token: key.full_key })
      const [newest] = body.data.items
      expect(newest).toMatchObject({ url, created_by: `agent:${id}`, content_type: 'image/png' })
    },
  )

  test.each(AGENTS)(
    '%s: a private address that is not filesUrl keeps the URL of the platform',
    async (agent) => {
      const { requests } = sandbox.agents[PLATFORMS[agent]].seen
      const before = requests.length
      const url = `${originOf(agent)}/made-files/chart.png`
      for (const face of FACES) {
        const { text, files } = await send(entryId(agent, 'guarded'), face, 'json', 'sandbox:file=alone')
        expect(urlIn(text)).toBe(url)
        expect(files).toMatchObject([{ type: 'image', url }])
      }
      expect(requests.slice(before).filter(({ path }) => path.startsWith('/made-files/'))).toEqual([])
      expect(
        await gateway.prints(new RegExp(`"agent":"${entryId(agent, 'guarded')}".*private_address`)),
      ).toBeTruthy()
    },
  )
})
