// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the file's own syntax
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { oneOf, section } from '#core/agents/entry-schema.ts'
import { createRegistry, PLATFORMS } from '#core/agents/registry.ts'
import { selfSigned } from '#core/agents/upstream/self-signed.test-support.ts'
import { ConfigError, loadConfig, loadDatabase, parseConfig, parseDocument } from './load.ts'

const dify = { platform: 'dify', baseUrl: 'https://dify.example.com/v1', apiKey: 'app-secret' }
const folder = mkdtempSync(join(tmpdir(), 'config-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('defaults', () => {
  test('the time of silence depends on the platform', () => {
    const { agents } = parseConfig(
      { agents: { chat: { ...dify, platform: 'hiagent' }, 'help-desk': dify } },
      {},
    )
    expect(agents.map(({ timeouts }) => timeouts.idleMs)).toEqual([120_000, 330_000])
  })

  test('an agent requires three properties, and everything else has a default', () => {
    const { agents, ...rest } = parseConfig({ agents: { 'help-desk': dify } }, {}, { cwd: '/srv' })
    expect(agents.map(({ deployments, retry, concurrency, ...agent }) => agent)).toEqual([
      {
        isListed: false,
        hasBreaker: true,
        baseUrl: dify.baseUrl,
        apiKey: dify.apiKey,
        id: 'help-desk',
        adapter: PLATFORMS.find('dify'),
        name: 'Help desk',
        description: '',
        apps: [],
        options: { mode: 'chat' },
        connection: { names: 'dns' },
        timeouts: { connectMs: 5_000, firstByteMs: 120_000, idleMs: 330_000, totalMs: 1_200_000 },
        endGraceMs: 1_500,
        reasoning: false,
        tools: 'refuse',
        propagate: false,
        keepFiles: false,
        sandbox: false,
        thinkTags: false,
        apiUrl: dify.baseUrl,
        requires: [],
        context: 'platform',
        takesAnyApp: false,
      },
    ])
    expect(rest).toMatchObject({
      production: false,
      isUnderNpx: false,
      sandbox: false,
      host: '127.0.0.1',
      port: 8080,
      publicUrl: 'http://127.0.0.1:8080',
      dataDir: '/srv/.data',
      adminUsername: 'admin',
      logLevel: 'info',
      workers: 1,
      limits: {
        chat: { points: 60, windowSeconds: 60 },
        upload: { points: 10, windowSeconds: 60 },
        agents: { points: 30, windowSeconds: 60 },
        reports: { points: 60, windowSeconds: 60 },
        calls: { points: 300, windowSeconds: 60 },
        reads: { points: 600, windowSeconds: 60 },
        login: { points: 10, windowSeconds: 60 },
        loginAddress: { points: 100, windowSeconds: 60 },
        refusedKeys: { points: 60, windowSeconds: 60 },
        refusedDocuments: { points: 60, windowSeconds: 60 },
      },
      uploads: { maxBytes: 52_428_800, retentionDays: 7, inFlightPerOwnerMax: 4, waitMs: 30_000 },
      cors: { origins: [] },
      trustedProxies: [],
      publicAgentListing: true,
      console: true,
      conversations: { retentionDays: 30, mappingRetentionDays: 400 },
      usage: { retentionDays: 400, endUsersPerDayMax: 10_000, appsPerDayMax: 1_000 },
      users: { maxApiCalls: 1_000_000 },
      tokens: { lifetimeSeconds: 3_600 },
      waitingPlaces: { inAll: 50, perOwner: 10 },
      chat: {
        bodyBytesMax: 1_048_576,
        replyBytesMax: 10_485_760,
        streamBytesMax: 33_554_432,
        unsentBytesMax: 1_048_576,
        inFlightMax: 10_000,
        stalledMs: 120_000,
      },
      drain: { acceptMs: 0, timeoutMs: 30_000 },
      instance: { leaseMs: 15_000, retentionDays: 30 },
    })
    expect(rest.limits).not.toHaveProperty('streamsPerKey')
    expect(rest).not.toHaveProperty('opsPort')
    expect(rest).not.toHaveProperty('databaseUrl')
    expect(rest).not.toHaveProperty('s3')
    expect(rest).not.toHaveProperty('source')
  })

  test('a property that a section does not set keeps its default', () => {
    const { limits, agents } = parseConfig(
      { agents: { a: { ...dify, timeouts: { idleMs: 1 } } }, limits: { chat: { points: 5 } } },
      {},
    )
    expect(limits.chat).toEqual({ points: 5, windowSeconds: 60 })
    expect(limits.upload).toEqual({ points: 10, windowSeconds: 60 })
    expect(agents[0]?.timeouts).toMatchObject({ idleMs: 1, totalMs: 1_200_000 })
  })

  test('the maximum lifetime of a key is at least ten years, including all their leap days', () => {
    const { maxLifetimeDays } = parseConfig(undefined, {}).apiKeys
    const tenYears = Date.UTC(2038, 0, 1) - Date.UTC(2028, 0, 1)
    expect(maxLifetimeDays * 86_400_000).toBeGreaterThanOrEqual(tenYears)
  })

  test('parsing does not modify its input', () => {
    const file = { agents: { a: dify } }
    const before = structuredClone(file)
    parseConfig(file, {})
    expect(file).toEqual(before)
  })
})

describe('agents', () => {
  test('an id that is the name of a platform selects that platform', () => {
    const { agents } = parseConfig(
      { agents: { coze: { baseUrl: 'https://api.coze.com/', apiKey: 'k' } } },
      {},
    )
    expect(agents[0]).toMatchObject({
      adapter: { platform: 'coze' },
      name: 'Coze',
      baseUrl: 'https://api.coze.com',
    })
  })

  test('apps keep the order of the file, and an app without a name is named by its id', () => {
    const apps = { '42': { apiKey: 'k1', default: true }, 'a.b': { apiKey: 'k2', name: 'Second' } }
    const { agents } = parseConfig({ agents: { a: { ...dify, apiKey: undefined, apps } } }, {})
    expect(agents[0]?.apps).toEqual([
      { id: '42', name: '42', default: true, apiKey: 'k1', options: {} },
      { id: 'a.b', name: 'Second', default: false, apiKey: 'k2', options: {} },
    ])
  })

  test.each<[string | string[], object]>([
    [
      'platform: missing, expected one of fastgpt, hiagent, dify, coze, openai, a2a, langgraph',
      { platform: undefined },
    ],
    [
      'baseUrl: missing, expected an http(s) URL without credentials, query and fragment',
      { baseUrl: undefined },
    ],
    ['apiKey: expected a text, got an empty one', { apiKey: '' }],
    ['apiKey: missing, expected here or in every app', { apiKey: undefined }],
    [
      'apiKey: missing, expected here or in every app',
      { apiKey: undefined, apps: { x: { apiKey: 'k' }, y: {} } },
    ],
    ['apps: expected one default at most', { apps: { x: { default: true }, y: { default: true } } }],
    ['model: missing, expected here or in every app', { platform: 'openai' }],
    [
      [
        'model: only for agents of the platform openai',
        'apps["x y"].botId: only for agents of the platform coze',
      ],
      { model: 'm', apps: { 'x y': { botId: '1' } } },
    ],
    ['mode: only for agents of the platform dify', { platform: 'coze', mode: 'chat' }],
    ['botId: expected a text, got 42 (put it in quotes)', { platform: 'coze', botId: 42 }],
    [
      'platform: expected one of fastgpt, hiagent, dify, coze, openai, a2a, langgraph, got "chatgpt"',
      { platform: 'chatgpt' },
    ],
    ['timeouts.idleMs: expected a whole number, 1 to 2147483647, got 0', { timeouts: { idleMs: 0 } }],
    [
      'timeouts.idleMs: expected a whole number, 1 to 2147483647, got 2147483648',
      { timeouts: { idleMs: 2 ** 31 } },
    ],
    ['names: expected one of dns, system, got "hosts"', { names: 'hosts' }],
    [
      'proxy: expected the http(s) URL of a proxy, without path',
      { proxy: 'socks5://user:fake-password@proxy.example.com' },
    ],
    [
      'proxy: expected the http(s) URL of a proxy, without path',
      { proxy: 'http://proxy.example.com/platform' },
    ],
    ['ca: there is no file /none/ca.pem', { ca: '/none/ca.pem' }],
    ['ca: cannot read / (EISDIR)', { ca: '/' }],
    [`ca: expected certificates in PEM, got none in ${import.meta.filename}`, { ca: import.meta.filename }],
    ['apps[""]: expected an app id of at most 256 characters', { apps: { '': {} } }],
  ])('an entry is rejected that has the mistake %j', (issues, change) => {
    const named = [issues].flat().map((issue) => `agents.a.${issue}`)
    expect(issuesOf({ agents: { a: { ...dify, ...change } } })).toEqual(named)
  })

  test('an entry may name a proxy, the look-up of the system and authorities, whose certificates are read', () => {
    const { cert, key } = selfSigned('ca.invalid')
    writeFileSync(join(folder, 'ca.pem'), `# Our own\n${key}${cert}# and again\n${cert}`)
    const proxy = 'http://user:fake-password@proxy.example.com:3128'
    const entry = { ...dify, names: 'system', proxy, ca: './ca.pem' }
    const { agents } = parseConfig({ agents: { a: entry } }, {}, { cwd: folder })
    const ca = `${cert.trim()}\n${cert.trim()}`
    expect(agents[0]?.connection).toEqual({ names: 'system', proxy, ca })

    writeFileSync(join(folder, 'ca.pem'), `${cert}${cert.replace('MI', '##')}`)
    expect(() => parseConfig({ agents: { a: entry } }, {}, { cwd: folder })).toThrow(
      `agents.a.ca: certificate 2 of ${join(folder, 'ca.pem')} cannot be read`,
    )
  })

  test('an openai agent requires no key, and its model may be set in each app', () => {
    const apps = { small: { model: 's' }, large: { model: 'l' } }
    const { agents } = parseConfig(
      { agents: { a: { platform: 'openai', baseUrl: 'http://127.0.0.1:8000/v1', apps } } },
      {},
    )
    expect(agents[0]?.apps.map(({ options }) => options)).toEqual([{ model: 's' }, { model: 'l' }])
  })

  test('a property that means different things on two platforms is checked by the platform of its entry', () => {
    const options = {
      agent: section({ mode: oneOf(['fast', 'slow'], { default: 'fast' }) }),
      app: section({}),
    }
    const adapters = PLATFORMS.adapters.flatMap((adapter) =>
      adapter.platform === 'dify' ? [adapter, { ...adapter, platform: 'other', entry: options }] : adapter,
    )
    const parse = (change: object) =>
      parseConfig({ agents: { a: { ...dify, ...change } } }, {}, undefined, createRegistry(adapters))

    expect(parse({}).agents[0]?.options).toEqual({ mode: 'chat' })
    expect(parse({ platform: 'other', mode: 'slow' }).agents[0]?.options).toEqual({ mode: 'slow' })
    expect(issuesIn(() => parse({ mode: 'slow' }))).toEqual([
      'agents.a.mode: expected one of chat, completion, workflow, got "slow"',
    ])
    expect(issuesIn(() => parse({ platform: 'other', mode: 'chat' }))).toEqual([
      'agents.a.mode: expected one of fast, slow, got "chat"',
    ])
    expect(issuesIn(() => parse({ mode: 'x' }))).toEqual([
      'agents.a.mode: expected one of chat, completion, workflow, or one of fast, slow, got "x"',
    ])
    expect(issuesIn(() => parse({ platform: 'coze', mode: 'chat' }))).toEqual([
      'agents.a.mode: only for agents of the platforms dify, other',
    ])
  })

  test('an agent id may have underscores', () => {
    expect(issuesOf({ agents: { support_eu: dify } })).toEqual([])
  })

  test('a registry rejects two adapters of the same name', () => {
    expect(() => createRegistry([...PLATFORMS.adapters, ...PLATFORMS.adapters])).toThrow('the same name')
  })

  test.each(['Support', '1st', '_a', 'x'.repeat(33), '__proto__'])('the agent id %s is rejected', (id) => {
    const file: unknown = JSON.parse(`{"agents": {"${id}": ${JSON.stringify(dify)}}}`)
    expect(issuesOf(file)).toEqual([expect.stringMatching(/^agents\.\w+: expected an agent id/)])
  })

  test.each([
    'foo',
    'ftp://x.example.com',
    'https:/x.example.com',
    'https://x.example.com/?a=1',
    'https://x.example.com/?',
    'https://x.example.com/#top',
    ' https://x.example.com',
    'https://',
    '',
  ])('the base URL %j is rejected', (baseUrl) => {
    expect(issuesOf({ agents: { a: { ...dify, baseUrl } } })).toEqual([
      `agents.a.baseUrl: expected an http(s) URL without credentials, query and fragment, got ${JSON.stringify(baseUrl)}`,
    ])
  })
})

describe('issues', () => {
  test('are all reported at once, one line each', () => {
    const file = {
      agents: { a: { ...dify, baseURL: 'x' }, b: { ...dify, apiKey: 7 } },
      limit: {},
      cors: { origins: ['https://app.example.com/', '*'] },
      drain: { acceptMs: -1, timeoutMs: 1.5 },
      publicAgentListing: 'no',
      users: null,
    }
    const env = { PORT: '99999', LOG_LEVEL: 'loud', WORKERS: '2' }
    expect(issuesOf(file, env)).toEqual([
      'limit: unknown property, did you mean "limits"?',
      'agents.a.baseURL: unknown property, did you mean "baseUrl"?',
      'agents.b.apiKey: expected a text (put it in quotes)',
      'cors.origins[0]: expected an exact origin such as "https://app.example.com", got "https://app.example.com/"',
      'publicAgentListing: expected true or false, got "no"',
      'users: expected a mapping, got nothing',
      'drain.acceptMs: expected a whole number, 0 to 2147483647, got -1',
      'drain.timeoutMs: expected a whole number, 1 to 2147483647, got 1.5',
      'PORT: expected a port, 0 to 65535, got 99999',
      'LOG_LEVEL: expected one of fatal, error, warn, info, debug, trace, silent, got "loud"',
      'WORKERS: more than 1 needs DATABASE_URL: one process owns the embedded database',
    ])
  })

  test('contain no secret', () => {
    const file = {
      agents: { a: { ...dify, baseUrl: 'https://me:hunter2@x.example.com', apiKey: ['hunter2'] } },
    }
    const env = {
      SECRET_KEY: 'hunter2',
      ADMIN_PASSWORD: 'hunter2',
      DATABASE_URL: 'mysql://me:hunter2@db',
      REDIS_URL: 'me:hunter2@redis',
      PUBLIC_URL: 'https://me:hunter2@x',
      S3_ENDPOINT: 'https://me:hunter2@x',
    }
    const issues = issuesOf(file, env)
    expect(issues).toHaveLength(8)
    expect(issues.join()).not.toContain('hunter2')
  })

  test.each([
    ['limits.chat.points', { limits: { chat: { points: 2 ** 31 } } }],
    ['usage.retentionDays', { usage: { retentionDays: 1e9 } }],
    ['tokens.lifetimeSeconds', { tokens: { lifetimeSeconds: 1e12 } }],
  ])('a number in %s that would only fail later is rejected', (path, file) => {
    const [issue] = issuesOf({ agents: { a: dify }, ...file })
    expect(issue).toMatch(new RegExp(`^${path}: expected a whole number, 1 to \\d+, got \\d+$`))
  })

  test.each([
    ['nothing', null, 'the file: expected a mapping, got nothing'],
    ['a text', 'agents', 'the file: expected a mapping, got "agents"'],
    ['no agents', {}, 'agents: expected one at least'],
    ['agents without entries', { agents: null }, 'agents: expected a mapping of agent ids, got nothing'],
    [
      'an agent without properties',
      { agents: { dify: null } },
      'agents.dify: expected a mapping, got nothing',
    ],
  ])('a file with %s is rejected', (_, file, issue) => expect(issuesOf(file)).toEqual([issue]))

  test.each([[['*']], [['https://app.example.com', 'http://localhost:5173']]])(
    'the origins %j are accepted',
    (origins) => {
      expect(parseConfig({ agents: { a: dify }, cors: { origins } }, {}).cors.origins).toEqual(origins)
    },
  )

  test('the origin "*" together with others is rejected', () => {
    expect(issuesOf({ agents: { a: dify }, cors: { origins: ['*', 'https://app.example.com'] } })).toEqual([
      'cors.origins: expected a list of exact origins, or "*" alone, got ["*","https://app.example.com"]',
    ])
  })

  test('end users can only be required where a header names them', () => {
    expect(issuesOf({ agents: { a: dify }, conversations: { endUserRequired: true } })).toEqual([
      'conversations.endUserHeader: missing: conversations.endUserRequired is true',
    ])
    const named = { endUserRequired: true, endUserHeader: 'x-end-user' }
    expect(parseConfig({ agents: { a: dify }, conversations: named }, {}).conversations).toMatchObject(named)
  })

  test.each(['10.0.0.0/33', '10.0.0', 'fd00::/129', '10.0.0.0/', '10.0.0.0/8/8', 'proxy.local'])(
    '%s is rejected as the range of a trusted proxy, and of private addresses',
    (range) => {
      const list = ['10.0.0.0/8', '::1', range]
      expect(issuesOf({ agents: { a: dify }, trustedProxies: list })).toHaveLength(1)
      expect(issuesOf({ agents: { a: dify }, privateAddresses: list })).toHaveLength(1)
    },
  )

  test('private addresses without the name of a network interface are accepted', () => {
    const list = ['192.5.6.0/24', '8.8.8.8', '2001:470:1f0b::/48', '::ffff:1.2.3.0/120']
    expect(parseConfig({ agents: { a: dify }, privateAddresses: list }, {}).privateAddresses).toEqual(list)
    expect(issuesOf({ agents: { a: dify }, privateAddresses: ['fe80::1%eth0'] })).toEqual([
      'privateAddresses[0]: expected an IP address or a CIDR range, got "fe80::1%eth0"',
    ])
  })
})

describe('the key of a platform', () => {
  /** Wherever an entry may have one. */
  const placesOf = (apiKey: string) => ({
    agents: {
      dify: { ...dify, apiKey, apps: { a: { apiKey } } },
      other: {
        ...{ ...dify, platform: 'dify', apps: { a: { apiKey } } },
        deployments: [{ id: 'main', apiKey, apps: { a: { apiKey } } }],
      },
    },
  })

  test.each([
    ['app-secret\n', 'a line break'],
    ['app-secret\r\nx-admin: 1', 'a line break'],
    [' app-secret', 'a space at its beginning or end'],
    ['app-secret ', 'a space at its beginning or end'],
    ['app\tsecret', 'a control character'],
    ['app\0secret', 'a control character'],
    ['app\u0085secret', 'a control character'],
    ['ключ', 'a character outside of Latin-1'],
    ['app-“secret”', 'a character outside of Latin-1'],
    ['🔑', 'a character outside of Latin-1'],
  ])('%j is refused for %s, since no header can carry it, and is not repeated', (apiKey, what) => {
    const problem = `cannot be sent in a header, since it has ${what}`
    expect(issuesOf(placesOf(apiKey))).toEqual([
      `agents.dify.apiKey: ${problem}`,
      `agents.dify.apps.a.apiKey: ${problem}`,
      `agents.other.apps.a.apiKey: ${problem}`,
      `agents.other.deployments[0].apiKey: ${problem}`,
      `agents.other.deployments[0].apps.a.apiKey: ${problem}`,
    ])
  })

  test.each(['app-secret', 'Basic dXNlcg==', 'schlüssel', '!"#$%&~'])('%j is accepted', (apiKey) => {
    expect(parseConfig({ agents: { dify: { ...dify, apiKey } } }, {}).agents).toHaveLength(1)
  })
})

const COLLECTOR = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }

describe('the environment', () => {
  test('sets what it names, and an empty variable counts as unset', () => {
    const env = {
      HOST: '0.0.0.0',
      PORT: '0',
      OPS_PORT: '9090',
      DATA_DIR: '/var/lib/gateway',
      DATABASE_URL: 'postgres://db/gateway',
      REDIS_URL: 'rediss://cache',
      SECRET_KEY: 'k'.repeat(32),
      ADMIN_USERNAME: 'ｒｏｏｔ',
      ADMIN_PASSWORD: 'long enough',
      LOG_LEVEL: '',
      WORKERS: '4',
      S3_BUCKET: 'files',
      S3_ENDPOINT: 'http://127.0.0.1:9000',
      S3_PUBLIC_URL: 'https://files.example.com/',
    }
    expect(parseConfig(undefined, env)).toMatchObject({
      host: '0.0.0.0',
      port: 0,
      publicUrl: 'http://localhost:0',
      opsPort: 9090,
      dataDir: '/var/lib/gateway',
      databaseUrl: 'postgres://db/gateway',
      redisUrl: 'rediss://cache',
      secretKey: 'k'.repeat(32),
      adminUsername: 'root',
      adminPassword: 'long enough',
      logLevel: 'info',
      workers: 4,
      s3: { bucket: 'files', endpoint: 'http://127.0.0.1:9000', publicUrl: 'https://files.example.com' },
    })
  })

  test.each([
    [{}, 'http://127.0.0.1:8080'],
    [{ HOST: '::1' }, 'http://[::1]:8080'],
    [{ HOST: '::', PORT: '80' }, 'http://localhost:80'],
    [{ PUBLIC_URL: 'https://gateway.example.com/agents/' }, 'https://gateway.example.com/agents'],
  ])('with %j the public URL is %s', (env, publicUrl) => {
    expect(parseConfig(undefined, env).publicUrl).toBe(publicUrl)
  })

  test('PORT and OPS_PORT may both be 0, as the system chooses different ports', () => {
    expect(parseConfig(undefined, { PORT: '0', OPS_PORT: '0' })).toMatchObject({ port: 0, opsPort: 0 })
  })

  test.each([
    ['PORT', '8080.5', 'expected a port, 0 to 65535, got "8080.5"'],
    ['PORT', '9007199254740993', 'expected a port, 0 to 65535, got "9007199254740993"'],
    ['WORKERS', '1000000', 'expected a whole number, 1 to 256, got 1000000'],
    ['PORT', '-1', 'expected a port, 0 to 65535, got "-1"'],
    ['OPS_PORT', '8080', 'expected another port than PORT'],
    ['WORKERS', '0', 'expected a whole number, 1 to 256, got 0'],
    [
      'PUBLIC_URL',
      'gateway.example.com',
      'expected an http(s) URL without credentials, query and fragment, got "gateway.example.com"',
    ],
    ['DATABASE_URL', 'mysql://db', 'expected a postgres:// URL'],
    ['REDIS_URL', 'cache:6379', 'expected a redis:// or rediss:// URL'],
    ['SECRET_KEY', 'k'.repeat(31), 'expected at least 32 characters'],
    ['ADMIN_USERNAME', 'a b c', 'expected 3 to 64 letters, digits and . _ - @, got "a b c"'],
    ['ADMIN_PASSWORD', 'short', 'expected 8 to 256 characters'],
    ['SECRET_KEY_PREVIOUS', 'k'.repeat(31), 'expected at least 32 characters'],
    ['S3_REGION', 'eu-1', 'means nothing without S3_BUCKET'],
    [
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'collector:4318',
      'expected an http(s) URL without credentials, query and fragment, got "collector:4318"',
    ],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', 'expected one of http/json, http/protobuf, got "grpc"'],
    [
      'OTEL_EXPORTER_OTLP_HEADERS',
      'api-key: s3cret',
      'expected pairs such as name=value, with commas between them',
    ],
    [
      'OTEL_TRACES_SAMPLER',
      'xray',
      'expected one of always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, parentbased_traceidratio, got "xray"',
    ],
    ['OTEL_TRACES_SAMPLER_ARG', '10%', 'expected a number, 0 to 1, got "10%"'],
    ['OTEL_BSP_MAX_QUEUE_SIZE', '-1', 'expected a whole number, 1 to 1000000, got "-1"'],
    [
      'OTEL_RESOURCE_ATTRIBUTES',
      'staging',
      'expected pairs such as name=value, with commas between them, got "staging"',
    ],
  ])('with %s=%s is rejected', (name, value, issue) => {
    expect(issuesOf(undefined, { ...COLLECTOR, [name]: value })).toEqual([`${name}: ${issue}`])
  })
})

describe('traces', () => {
  const tracingIn = (env: Record<string, string>) => parseConfig(undefined, env).tracing

  test('are sent where an endpoint is named, with the defaults', () => {
    expect(tracingIn({})).toBeUndefined()
    expect(tracingIn({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' })).toEqual({
      sampler: 'parentbased_always_on',
      ratio: 1,
      queue: {
        scheduledDelayMillis: 5_000,
        exportTimeoutMillis: 30_000,
        maxQueueSize: 16_384,
        maxExportBatchSize: 512,
      },
      trustedProxies: [],
    })
  })

  test('may have an endpoint of their own alone, and have their sampler', () => {
    const env = {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example.com/otlp',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
      OTEL_BSP_MAX_QUEUE_SIZE: '100',
    }
    expect(tracingIn(env)).toMatchObject({
      sampler: 'parentbased_traceidratio',
      ratio: 0.25,
      queue: { maxQueueSize: 100 },
    })
  })

  test('are off where the variable says so, and what is meant for other programs is then not checked', () => {
    const ofOthers = { OTEL_TRACES_SAMPLER: 'xray', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }
    expect(tracingIn(ofOthers)).toBeUndefined()
    expect(tracingIn({ ...COLLECTOR, ...ofOthers, OTEL_SDK_DISABLED: 'TRUE' })).toBeUndefined()
  })
})

describe('in production', () => {
  const parse = (env: Record<string, string>) =>
    parseConfig({ agents: { a: dify } }, { NODE_ENV: 'production', ...env })

  test.each([{}, { DATA_DIR: '', DATABASE_URL: '' }])('%j is rejected', (env) => {
    expect(issuesIn(() => parse(env))).toEqual([
      'DATABASE_URL: missing: production needs it, or DATA_DIR for the embedded database',
    ])
  })

  test.each([{ DATA_DIR: '/data' }, { DATABASE_URL: 'postgres://db/gateway' }])('%j is accepted', (env) => {
    expect(parse(env)).toMatchObject({ production: true })
  })
})

test.each(['Production', 'prod', 'staging', 'production '])('%j is no NODE_ENV', (NODE_ENV) => {
  const issue = `NODE_ENV: expected one of development, test, production, got "${NODE_ENV}"`
  expect(issuesOf({ agents: { a: dify } }, { NODE_ENV })).toEqual([issue])
  // Nor for a command that needs no configuration file, which would otherwise make up a database.
  expect(issuesIn(() => loadDatabase({ NODE_ENV }, '/srv'))).toEqual([issue])
})

test.each([undefined, '', 'development', 'test'])('where NODE_ENV is %j it is not production', (NODE_ENV) => {
  expect(parseConfig({ agents: { a: dify } }, { NODE_ENV })).toMatchObject({ production: false })
})

test.each([
  ['127.0.0.1', true],
  ['::', true],
  ['fe80::1%eth0', true],
  ['localhost', true],
  ['gateway_1.internal', true],
  ['8080', false],
  ['10.0.0.256', false],
  ['127.1', false],
  ['0.0.0.0:8080', false],
  ['[::1]', false],
  ['http://gateway.example.com', false],
  ['gateway.example.com/', false],
  ['*', false],
])('the HOST %j is accepted: %s', (HOST, isAccepted) => {
  expect(issuesOf({ agents: { a: dify } }, { HOST })).toEqual(
    isAccepted ? [] : [`HOST: expected an IP address or a host name, without a port, got "${HOST}"`],
  )
})

test('a variable that looks like one of ours is reported, unless the file refers to it', () => {
  const { misspeltVariables } = parseConfig(
    { agents: { a: { ...dify, apiKey: '${REDIS_URI}' } } },
    { REDIS_URI: 'x', LOGLEVEL: 'info' },
  )
  expect(misspeltVariables).toEqual([{ name: 'LOGLEVEL', meant: 'LOG_LEVEL' }])
})

describe('variables in the configuration file', () => {
  test('are replaced in every text unless they are escaped, and only once', () => {
    const agent = {
      ...dify,
      baseUrl: 'https://${HOST_NAME}/v1',
      apiKey: '${KEY}',
      name: '$${KEY} costs $5 {x}',
    }
    const { agents } = parseConfig({ agents: { a: agent } }, { HOST_NAME: 'dify.internal', KEY: '$&${KEY}' })
    expect(agents[0]).toMatchObject({
      baseUrl: 'https://dify.internal/v1',
      apiKey: '$&${KEY}',
      name: '${KEY} costs $5 {x}',
    })
  })

  test('that are not set are reported, without further issues of the same value', () => {
    const file = {
      agents: { a: { ...dify, baseUrl: '${URL}', apiKey: '${KEY}' } },
      trustedProxies: ['${PROXY}'],
    }
    expect(issuesOf(file, { KEY: '' })).toEqual([
      'agents.a.baseUrl: the environment variable URL is not set',
      'agents.a.apiKey: the environment variable KEY is not set',
      'trustedProxies[0]: the environment variable PROXY is not set',
    ])
  })
})

describe('without a file', () => {
  test('the gateway runs in sandbox mode', async () => {
    expect(await loadConfig({}, join(folder, 'empty'))).toMatchObject({ sandbox: true, agents: [] })
  })

  test('a gateway in production is rejected', () => {
    expect(issuesOf(undefined, { NODE_ENV: 'production', DATA_DIR: '/data' })).toEqual([
      'GATEWAY_CONFIG: missing, and there is no gateway.config.yaml: production needs one',
    ])
  })

  test('a file that GATEWAY_CONFIG names but that does not exist is rejected', async () => {
    await expect(loadConfig({ GATEWAY_CONFIG: 'other.yaml' }, folder)).rejects.toThrow(
      `GATEWAY_CONFIG: there is no file ${folder}/other.yaml`,
    )
  })
})

describe('the configuration file', () => {
  test('is gateway.config.yaml unless GATEWAY_CONFIG names another one', async () => {
    const text = 'agents: {dify: {baseUrl: https://dify.example.com, apiKey: k}}'
    writeFileSync(join(folder, 'gateway.config.yaml'), text)
    writeFileSync(join(folder, 'other.yaml'), `${text}\ndrain: {timeoutMs: 5}`)

    expect(await loadConfig({}, folder)).toMatchObject({
      drain: { timeoutMs: 30_000 },
      document: { source: `${folder}/gateway.config.yaml` },
    })
    expect(await loadConfig({ GATEWAY_CONFIG: 'other.yaml' }, folder)).toMatchObject({
      sandbox: false,
      drain: { timeoutMs: 5 },
      document: { source: `${folder}/other.yaml` },
      dataDir: `${folder}/.data`,
    })
  })

  test.each([
    ['a repeated key', 'workers: 1\nworkers: 2', ':2:1: workers: this key is there already'],
    ['a tab', 'cors:\n\torigins: []', ':2:1: origins: a tab indents this line'],
    ['a value that looks like a tag', 'workers: !days 1', ':1:10: workers: a value that starts with ! '],
    ['a value that looks like an alias', 'cors: *none', ':1:7: cors: a value that starts with * '],
    ['a value that starts with @', 'cors: @none', ':1:7: cors: a value that starts with @ '],
    ['a line indented too far', 'cors:\n  a: x\n    b: y', ':2:6: a: a second key is on this line, or'],
    ['a line indented too little', 'cors:\n    a: x\n   b: y', ':3:1: b: this line is indented differently'],
    ['a missing colon', 'agents:\n  dify\n    mode: x', ':2:3: agents: the colon after a key is missing'],
    ['an open bracket', 'cors: {origins: [a}\nusers: 1', ':1:19: cors: a bracket that was opened'],
    ['an open quotation mark', 'tokens: {issuer: "a}\n', ':2:1: tokens: a quotation mark'],
    [
      'a variable within braces',
      'cors: {a: ${B}}',
      ':1:12: cors: something follows where the value has ended',
    ],
    ['a second document', 'workers: 1\n---\ncors: {}', ':2:1: workers: a second document begins here'],
  ])('with %s is rejected with one line that names the place', async (_, text, problem) => {
    const path = join(folder, 'broken.yaml')
    writeFileSync(path, text)
    expect(await issuesOfFile(path)).toEqual([expect.stringContaining(`${path}${problem}`)])
  })

  test('with a secret that looks like YAML syntax is rejected without showing the secret', async () => {
    const path = join(folder, 'secret.yaml')
    for (const secret of ['!hunter2', '*hunter2', '@hunter2', '"hunter2', 'hunter2: x', '&a hunter2 *a: b']) {
      writeFileSync(path, `agents:\n  dify:\n    apiKey: ${secret}\n    apiKey: ${secret}\n`)
      const issues = await issuesOfFile(path)
      expect(issues.join()).toContain('apiKey: ')
      expect(issues.join()).not.toContain('hunter2')
    }
  })

  test('with a number that is too large is rejected, and the error shows the number as it was written', async () => {
    const path = join(folder, 'numbers.yaml')
    const agent = '{platform: coze, baseUrl: https://api.coze.cn, apiKey: k, botId: 7342866812345678901}'
    writeFileSync(path, `connectionsMax: 9007199254740993\nchat: {bodyBytesMax: 9e99}\nagents: {a: ${agent}}`)
    expect(await issuesOfFile(path)).toEqual([
      'agents.a.botId: expected a text, got 7342866812345678901 (put it in quotes)',
      'chat.bodyBytesMax: expected a whole number, 1 to 9007199254740991, got 9e+99',
      'connectionsMax: expected a whole number, 1 to 9007199254740991, got 9007199254740993',
    ])
  })

  test('is rejected if it cannot be read', async () => {
    expect(await issuesOfFile('.')).toEqual([`${folder}: cannot be read (EISDIR)`])
    expect(await issuesOfFile('/dev/zero')).toEqual([
      '/dev/zero: cannot be read (it is a pipe, a socket or a device, and not a file)',
    ])
  })

  test('is resolved with the files that it names, and names those that cannot be read', async () => {
    const path = join(folder, 'with-files.yaml')
    writeFileSync(join(folder, 'secret'), 'k-1\n')
    const entry = 'baseUrl: https://dify.example.com, platform: dify'
    writeFileSync(path, `agents: {a: {${entry}, apiKey: "\${file:secret}"}}`)
    const { agents, document } = await loadConfig({ GATEWAY_CONFIG: path }, folder)
    expect(agents[0]?.apiKey).toBe('k-1')
    expect(document.files).toEqual({ [join(folder, 'secret')]: 'k-1\n' })
    writeFileSync(
      path,
      `agents: {a: {${entry}, apiKey: "\${file:/dev/zero}"}, b: {${entry}, apiKey: "\${file:none}", ca: /dev/zero}}`,
    )
    const unread = 'cannot read /dev/zero (it is a pipe, a socket or a device, and not a file)'
    expect(await issuesOfFile(path)).toEqual([
      `agents.a.apiKey: ${unread}`,
      `agents.b.apiKey: there is no file ${folder}/none`,
      `agents.b.ca: ${unread}`,
    ])
  })

  test('may contain app ids of any length without losing a digit', async () => {
    const path = join(folder, 'digits.yaml')
    writeFileSync(
      path,
      'agents: {coze: {baseUrl: https://api.coze.cn, apiKey: k, apps: {7342866812345678901: {}}}}',
    )
    const { agents } = await loadConfig({ GATEWAY_CONFIG: path }, folder)
    expect(agents[0]?.apps[0]?.id).toBe('7342866812345678901')
  })
})

test('the example file has an agent of each platform and requires only the variables that it names', async () => {
  const path = join(import.meta.dirname, '../../../../gateway.config.example.yaml')
  const named = readFileSync(path, 'utf8').matchAll(/: \$\{(\w+)\}/g)
  const env = Object.fromEntries([...named].map(([, name]) => [name, 'key']))

  const { agents } = await loadConfig(
    { ...env, GATEWAY_CONFIG: path, NODE_ENV: 'production', DATA_DIR: '/data' },
    folder,
  )
  expect(agents.map(({ id, adapter }) => [id, adapter.platform])).toEqual([
    ['fastgpt', 'fastgpt'],
    ['dify', 'dify'],
    ['weekly-report', 'dify'],
    ['hiagent', 'hiagent'],
    ['coze', 'coze'],
    ['vllm', 'openai'],
  ])
})

function issuesOf(file: unknown, env: NodeJS.ProcessEnv = {}): readonly string[] {
  return issuesIn(() => parseConfig(file, env))
}

async function issuesOfFile(name: string): Promise<readonly string[]> {
  try {
    await loadConfig({ GATEWAY_CONFIG: name }, folder)
  } catch (error) {
    if (error instanceof ConfigError) return error.issues
    throw error
  }
  return []
}

function issuesIn(parse: () => unknown): readonly string[] {
  try {
    parse()
  } catch (error) {
    if (error instanceof ConfigError) return error.issues
    throw error
  }
  return []
}

describe('a command that needs the database alone', () => {
  test('reads no configuration file, also in production', () => {
    const env = {
      NODE_ENV: 'production',
      GATEWAY_CONFIG: 'nowhere.yaml',
      DATABASE_URL: 'postgres://db/trunkline',
    }
    expect(loadDatabase(env, '/srv')).toMatchObject({ databaseUrl: env.DATABASE_URL })
    expect(loadDatabase({ NODE_ENV: 'production', DATA_DIR: 'data' }, '/srv').dataDir).toBe('/srv/data')
    expect(loadDatabase({}, '/srv').dataDir).toBe('/srv/.data')
  })

  test('refuses to make up a database in production, and a mistake in the environment', () => {
    expect(() => loadDatabase({ NODE_ENV: 'production' }, '/srv')).toThrow(
      'DATABASE_URL: missing: production needs it, or DATA_DIR for the embedded database',
    )
    expect(() => loadDatabase({ DATABASE_URL: 'mysql://db' }, '/srv')).toThrow(
      'DATABASE_URL: expected a postgres:// URL',
    )
  })
})

describe('the content of a file in the place of a value', () => {
  const configOf = (apiKey: string) =>
    parseConfig({ agents: { dify: { baseUrl: 'https://a.example', apiKey } } }, {}, { cwd: folder })
  const problemOf = (apiKey: string) => {
    try {
      configOf(apiKey)
      return undefined
    } catch (error) {
      return error instanceof ConfigError ? error.issues : error
    }
  }

  test.each([
    ['secret', 'secret'],
    ['secret\n', 'secret'],
    ['secret\r\n', 'secret'],
  ])('%j is taken without its last line break', (content, apiKey) => {
    writeFileSync(join(folder, 'key'), content)
    for (const name of ['${file:key}', `\${file:${join(folder, 'key')}}`])
      expect(configOf(name).agents[0]?.apiKey).toBe(apiKey)
  })

  test('keeps all line breaks but the last, with which it is no key', () => {
    writeFileSync(join(folder, 'key'), 'secret\n\n')
    expect(problemOf('${file:key}')).toEqual([
      'agents.dify.apiKey: cannot be sent in a header, since it has a line break',
    ])
  })

  test('is no variable of the environment, and an escaped one is no file', () => {
    writeFileSync(join(folder, 'key'), 'secret')
    expect(configOf('${file:key}').document.variables).toEqual([])
    expect(configOf('$${file:key}').agents[0]?.apiKey).toBe('${file:key}')
  })

  test('that cannot be had is named at its place, with its path and without what it has', () => {
    writeFileSync(join(folder, 'empty'), '\n')
    writeFileSync(join(folder, 'large'), 'x'.repeat(1024 * 1024 + 1))
    expect(problemOf('${file:none}')).toEqual([
      `agents.dify.apiKey: there is no file ${join(folder, 'none')}`,
    ])
    expect(problemOf('${file:empty}')).toEqual(['agents.dify.apiKey: the file empty is empty'])
    expect(problemOf('${file:large}')).toEqual([
      `agents.dify.apiKey: the file ${join(folder, 'large')} has more than 1 MiB`,
    ])
    expect(problemOf(`\${file:${folder}}`)).toEqual([`agents.dify.apiKey: cannot read ${folder} (EISDIR)`])
  })

  test('goes to another process with the document, whatever the file and the variable have become', () => {
    const ca = join(folder, 'ca.pem')
    const { cert } = selfSigned('ca.invalid')
    writeFileSync(ca, cert)
    writeFileSync(join(folder, 'key'), 'before')
    const env = { NAME: 'Support' }
    const entry = { baseUrl: 'https://a.example', apiKey: '${file:key}', name: '${NAME} $${NAME}', ca }
    const config = parseConfig({ agents: { dify: entry } }, env, { cwd: folder })
    writeFileSync(join(folder, 'key'), 'after')
    rmSync(ca)
    const sent = JSON.parse(JSON.stringify(config.document))
    const received = parseDocument(sent, { NAME: 'Other' }, folder)
    expect(received.agents).toEqual(config.agents)
    expect(received.agents[0]?.name).toBe('Support ${NAME}')
  })
})

test.each([
  [
    { maxPerKey: { chat: 59 } },
    ['limits.maxPerKey.chat: expected at least 60, which is limits.chat per minute, got 59'],
  ],
  [
    { upload: { points: 600, windowSeconds: 600 }, maxPerKey: { upload: 59, chat: 60 } },
    ['limits.maxPerKey.upload: expected at least 60, which is limits.upload per minute, got 59'],
  ],
  [{ maxPerKey: { chat: 0 } }, ['limits.maxPerKey.chat: expected a whole number, 1 to 1000000000, got 0']],
])('own limits of keys that are lower than those of all are refused: %j', (limits, issues) => {
  expect(() => parseConfig({ agents: { dify }, limits }, {})).toThrow(
    expect.objectContaining({ issues: expect.arrayContaining(issues) }),
  )
})
