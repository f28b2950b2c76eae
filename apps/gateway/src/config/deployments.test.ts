import { describe, expect, test } from 'vitest'
import { oneOf, section } from '#core/agents/entry-schema.ts'
import { createRegistry, PLATFORMS } from '#core/agents/registry.ts'
import { ConfigError, parseConfig } from './load.ts'

const dify = { platform: 'dify', baseUrl: 'https://dify.example.com/v1', apiKey: 'hunter2' }
const eu = { id: 'eu', baseUrl: 'https://eu.example.com/v1', apiKey: 'hunter2-eu', formerly: ['main'] }
const us = { id: 'us', baseUrl: 'https://us.example.com/v1', apiKey: 'hunter2-us' }
const coze = { platform: 'coze', baseUrl: 'https://api.coze.cn', apiKey: 'hunter2' }

function served(entry: object) {
  const [agent] = parseConfig({ agents: { a: entry } }, {}).agents
  if (agent === undefined) throw new Error('There is no agent.')
  return agent
}

function issuesOf(entry: object): readonly string[] {
  try {
    served(entry)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    expect(error.message).not.toContain('hunter2')
    return error.issues
  }
  return []
}

describe('an entry without a list', () => {
  test('has one deployment, main, which is the agent itself', () => {
    const { deployments, retry, concurrency, isListed, hasBreaker, ...agent } = served(dify)
    expect(deployments).toEqual([
      {
        id: 'main',
        agent,
        weight: 1,
        priority: 0,
        state: 'main',
        sharesState: false,
        formerly: [],
        max: undefined,
      },
    ])
    expect(retry).toEqual({ attempts: 2, firstByteMs: undefined })
    expect([concurrency, isListed, hasBreaker]).toEqual([undefined, false, true])
  })

  test('may have limits and attempts of its own', () => {
    const { retry, concurrency } = served({
      ...dify,
      retry: { attempts: 3, firstByteMs: 5_000 },
      concurrency: { max: 1_000, perKey: 500, queue: 0 },
    })
    expect(retry).toEqual({ attempts: 3, firstByteMs: 5_000 })
    expect(concurrency).toEqual({ max: 1_000, perKey: 500, queue: 0, waitMs: 10_000 })
  })
})

describe('a list of deployments', () => {
  test('has the defaults of each, and keeps the order of the file', () => {
    const { deployments } = served({
      ...dify,
      deployments: [
        { ...eu, weight: 3, state: 'shared' },
        { ...us, state: 'shared', max: 10 },
        { id: 'old', priority: 1, disabled: true, weight: 5 },
      ],
    })
    expect(deployments.map(({ agent, ...deployment }) => [deployment, agent.baseUrl, agent.apiKey])).toEqual([
      [
        {
          id: 'eu',
          weight: 3,
          priority: 0,
          state: 'shared',
          sharesState: true,
          formerly: ['main'],
          max: undefined,
        },
        eu.baseUrl,
        eu.apiKey,
      ],
      [
        { id: 'us', weight: 1, priority: 0, state: 'shared', sharesState: true, formerly: [], max: 10 },
        us.baseUrl,
        us.apiKey,
      ],
      [
        { id: 'old', weight: 0, priority: 1, state: 'old', sharesState: false, formerly: [], max: undefined },
        dify.baseUrl,
        dify.apiKey,
      ],
    ])
  })

  test('needs neither address nor key of the entry, whose agent is then the main one', () => {
    const { deployments, ...agent } = served({
      platform: 'dify',
      deployments: [us, { ...eu, baseUrl: `${eu.baseUrl}/` }],
    })
    expect(agent).toMatchObject({ id: 'a', name: 'A', baseUrl: eu.baseUrl, apiKey: eu.apiKey })
    expect(deployments.map((each) => each.agent.adapter)).toEqual([
      PLATFORMS.find('dify'),
      PLATFORMS.find('dify'),
    ])
  })

  test('a deployment replaces time limits one by one, and keeps everything else of the agent', () => {
    const { deployments } = served({
      ...dify,
      name: 'Help desk',
      mode: 'workflow',
      endGraceMs: 7,
      timeouts: { idleMs: 1_000 },
      deployments: [{ id: 'main' }, { ...us, timeouts: { firstByteMs: 2_000 } }],
    })
    const [main, other] = deployments.map(({ agent }) => agent)
    expect(main).toEqual(
      served({ ...dify, name: 'Help desk', mode: 'workflow', endGraceMs: 7, timeouts: { idleMs: 1_000 } })
        .deployments[0]?.agent,
    )
    expect(other).toEqual({
      ...main,
      baseUrl: us.baseUrl,
      apiUrl: us.baseUrl,
      apiKey: us.apiKey,
      timeouts: { connectMs: 5_000, firstByteMs: 2_000, idleMs: 1_000, totalMs: 1_200_000 },
    })
  })

  test('a deployment replaces where its files are and whether they are kept, and otherwise has both of the agent', () => {
    const { deployments } = served({
      ...dify,
      filesUrl: 'https://files.example.com',
      keepFiles: true,
      deployments: [{ id: 'main' }, { ...us, filesUrl: 'http://10.0.0.1:8080/below', keepFiles: false }],
    })
    expect(deployments.map(({ agent: { filesUrl, keepFiles } }) => [filesUrl, keepFiles])).toEqual([
      ['https://files.example.com', true],
      ['http://10.0.0.1:8080/below', false],
    ])
    const { filesUrl, keepFiles } = served(dify)
    expect([filesUrl, keepFiles]).toEqual([undefined, false])
  })

  test('a deployment replaces keys and bots of apps, which keep their names and their order', () => {
    const { deployments } = served({
      ...coze,
      apps: { first: { name: 'First', botId: '1', default: true }, second: { apiKey: 'hunter2-second' } },
      deployments: [
        { id: 'main' },
        { id: 'us', apps: { second: { apiKey: 'hunter2-us' }, first: { botId: '2' } } },
      ],
    })
    expect(deployments[1]?.agent.apps).toEqual([
      { id: 'first', name: 'First', default: true, options: { botId: '2' } },
      { id: 'second', name: 'second', default: false, apiKey: 'hunter2-us', options: {} },
    ])
  })

  test.each([
    ['a bot', { ...coze, botId: '1' }, { botId: '2' }],
    ['a model', { platform: 'openai', baseUrl: 'http://a.example.com', model: 'm' }, { model: 'n' }],
  ])('a deployment replaces %s', (_, entry, replaced) => {
    const { deployments } = served({ ...entry, deployments: [{ id: 'main' }, { id: 'us', ...replaced }] })
    expect(deployments.map(({ agent }) => agent.options)).toEqual([
      expect.not.objectContaining(replaced),
      replaced,
    ])
  })

  test('what an agent requires may be in its deployments alone', () => {
    const list = [
      { id: 'main', baseUrl: 'http://a.example.com/v1', model: 'm' },
      { id: 'us', baseUrl: 'http://b.example.com/v1', model: 'n' },
    ]
    expect(served({ platform: 'openai', deployments: list }).options).toEqual({ model: 'm' })
  })

  test('a limit of a deployment makes calls wait as long as by default', () => {
    const { concurrency } = served({ ...dify, deployments: [{ id: 'main', max: 5 }] })
    expect(concurrency).toEqual({ max: undefined, perKey: undefined, queue: 100, waitMs: 10_000 })
    const { concurrency: shorter } = served({
      ...dify,
      deployments: [{ id: 'main', max: 5 }],
      concurrency: { queue: 3 },
    })
    expect(shorter).toEqual({ max: undefined, perKey: undefined, queue: 3, waitMs: 10_000 })
  })
})

const AN_ID = 'a lower-case letter, then at most 31 lower-case letters, digits, hyphens and underscores'
const A_URL = 'an http(s) URL without credentials, query and fragment'
const AGENTS_OWN = 'expected nothing here: it belongs to the agent, whose deployments behave alike'

describe('an entry', () => {
  const issuesWith = (change: object) => issuesOf({ ...dify, ...change })
  const named = (issues: readonly string[]) =>
    issues.map((issue) => (typeof issue === 'string' ? `agents.a.${issue}` : issue))

  test.each<[readonly object[], ...string[]]>([
    [[], 'deployments: expected one at least'],
    [
      [us],
      'deployments: expected one with the id "main" or with it under "formerly", for conversations from before the list',
    ],
    [
      [
        { ...eu, weight: 0 },
        { ...us, disabled: true },
      ],
      'deployments: expected one with a weight, as none would take new conversations',
    ],
    [[eu, { ...us, id: 'eu' }], 'deployments[1].id: "eu" is there already, at deployments[0].id'],
    [
      [{ ...eu, formerly: ['main', 'us'] }, us],
      'deployments[0].formerly[1]: "us" is there already, at deployments[1].id',
    ],
    [
      [{ id: 'main', formerly: ['main'] }],
      'deployments[0].formerly[0]: "main" is there already, at deployments[0].id',
    ],
    [
      [eu, { ...us, formerly: ['old', 'main', 'old'] }],
      'deployments[1].formerly[1]: "main" is there already, at deployments[0].formerly[0]',
      'deployments[1].formerly[2]: "old" is there already, at deployments[1].formerly[0]',
    ],
    [
      [eu, { ...us, state: 'eu' }],
      'deployments[1].state: "eu" is the id of deployments[0], which does not name it as its state',
    ],
    [
      [eu, { ...us, state: 'main' }],
      'deployments[0].formerly[0]: "main" is the state of deployments[1], which would have these conversations',
    ],
    [[eu, { ...us, state: 'us' }]],
    [
      [
        { ...eu, state: 'main' },
        { ...us, state: 'main' },
      ],
    ],
    [[eu, {}], `deployments[1].id: missing, expected an id: ${AN_ID}`],
    [[eu, { id: 'US' }], `deployments[1].id: expected an id: ${AN_ID}, got "US"`],
    [[{ ...eu, state: '' }], `deployments[0].state: expected a name: ${AN_ID}, got ""`],
    [[{ ...eu, formerly: ['main', 'A'] }], `deployments[0].formerly[1]: expected an id: ${AN_ID}, got "A"`],
    [[{ ...eu, formerly: 'main' }], 'deployments[0].formerly: expected a list, got "main"'],
    [
      [{ ...eu, weight: 1_001, priority: -1, max: 0 }],
      'deployments[0].weight: expected a whole number, 0 to 1000, got 1001',
      'deployments[0].priority: expected a whole number, 0 to 100, got -1',
      'deployments[0].max: expected a whole number, 1 to 9007199254740991, got 0',
    ],
    [[{ ...eu, wieght: 1 }], 'deployments[0].wieght: unknown property, did you mean "weight"?'],
    [
      [{ ...eu, timeouts: { idle: 1 } }],
      'deployments[0].timeouts.idle: unknown property, did you mean "idleMs"?',
    ],
    [[{ ...eu, apiKey: ['hunter2'] }], 'deployments[0].apiKey: expected a text, got a list'],
    [
      [{ ...eu, baseUrl: 'https://me:hunter2@eu.example.com' }],
      `deployments[0].baseUrl: expected ${A_URL}, got "https://…@eu.example.com"`,
    ],
    [
      [{ ...eu, platform: 'coze', mode: 'chat', reasoning: true, retry: {}, deployments: [] }],
      ...['platform', 'reasoning', 'retry', 'mode', 'deployments'].map((name) =>
        expect.stringContaining(`deployments[0].${name}: ${AGENTS_OWN}`),
      ),
    ],
    [[{ ...eu, botId: '1' }], 'deployments[0].botId: only for agents of the platform coze'],
  ])('with the deployments %j has these issues', (deployments, ...issues) => {
    expect(issuesWith({ deployments })).toEqual(named(issues))
  })

  test.each<[object, ...string[]]>([
    [{ deployments: { eu } }, 'deployments: expected a list, got a mapping'],
    [{ deployments: null }, 'deployments: expected a list, got nothing'],
    [
      { filesUrl: 'https://me:hunter2@files.example.com', deployments: [eu] },
      `filesUrl: expected ${A_URL}, got "https://…@files.example.com"`,
    ],
    [
      { apps: { x: {} }, deployments: [{ ...eu, apps: { y: { apiKey: 'hunter2' } } }] },
      'deployments[0].apps.y: is no app of the agent',
    ],
    [
      { apps: { x: {} }, deployments: [{ ...eu, apps: { x: { name: 'X', default: true } } }] },
      expect.stringContaining(`deployments[0].apps.x.name: ${AGENTS_OWN}`),
      expect.stringContaining(`deployments[0].apps.x.default: ${AGENTS_OWN}`),
    ],
    [
      { baseUrl: undefined, deployments: [eu, { id: 'us' }] },
      `deployments[1].baseUrl: missing, expected ${A_URL}, here or in the agent`,
    ],
    [
      { apiKey: undefined, deployments: [eu, { id: 'us' }] },
      'deployments[1].apiKey: missing, expected here, in the agent or in every app',
    ],
    [
      { ...coze, deployments: [{ id: 'main', botId: '1' }, { id: 'us' }] },
      'deployments[1]: calls of it need app_id, and calls of deployments[0] nothing',
    ],
    [{ retry: { attempts: 6 } }, 'retry.attempts: expected a whole number, 1 to 5, got 6'],
    [
      { retry: { firstByteMs: 120_001 } },
      'retry.firstByteMs: expected at most 120000, which is timeouts.firstByteMs, got 120001',
    ],
    [
      { retry: { firstByteMs: 3_000 }, deployments: [{ ...eu, timeouts: { firstByteMs: 2_000 } }] },
      'retry.firstByteMs: expected at most 2000, which is deployments[0].timeouts.firstByteMs, got 3000',
    ],
    [
      { concurrency: { max: 1, perKey: 2 } },
      'concurrency.perKey: expected at most 1, which is concurrency.max, got 2',
    ],
    [
      { concurrency: { max: 3, perOwner: 4, perKey: 5 } },
      'concurrency.perOwner: expected at most 3, which is concurrency.max, got 4',
      'concurrency.perKey: expected at most 3, which is concurrency.max, got 5',
    ],
    [
      { concurrency: { perOwner: 4, perKey: 5 } },
      'concurrency.perKey: expected at most 4, which is concurrency.perOwner, got 5',
    ],
    [
      { concurrency: { queue: 5 } },
      'concurrency: limits nothing: expected max, perOwner or perKey, or the max of a deployment',
    ],
    [
      { concurrency: { max: 0, perKey: 1.5, queue: -1, waitMs: 0, wait: 1 } },
      'concurrency.wait: unknown property, did you mean "waitMs"?',
      'concurrency.max: expected a whole number, 1 to 9007199254740991, got 0',
      'concurrency.perKey: expected a whole number, 1 to 9007199254740991, got 1.5',
      'concurrency.queue: expected a whole number, 0 to 9007199254740991, got -1',
      'concurrency.waitMs: expected a whole number, 1 to 2147483647, got 0',
    ],
  ])('with %j has these issues', (change, ...issues) => {
    expect(issuesWith(change)).toEqual(named(issues))
  })
})

test('a property that another platform releases is refused where the own platform does not', () => {
  const options = {
    agent: section({ mode: oneOf(['fast', 'slow'], { default: 'fast', perDeployment: true }) }),
    app: section({}),
  }
  const adapters = PLATFORMS.adapters.flatMap((adapter) =>
    adapter.platform === 'dify' ? [adapter, { ...adapter, platform: 'other', entry: options }] : adapter,
  )
  const parse = (change: object) =>
    parseConfig({ agents: { a: { ...dify, ...change } } }, {}, undefined, createRegistry(adapters))

  const deployments = [{ id: 'main' }, { id: 'us', mode: 'slow' }]
  expect(parse({ platform: 'other', deployments }).agents[0]?.deployments[1]?.agent.options).toEqual({
    mode: 'slow',
  })
  expect(() => parse({ deployments: [{ id: 'main', mode: 'chat' }] })).toThrow(
    `agents.a.deployments[0].mode: ${AGENTS_OWN}`,
  )
})
