import { describe, expect, test } from 'vitest'
import { parseConfig } from '#config/load.ts'
import { checkEnvironment, doubtfulSettings } from './check-environment.ts'

const dify = { baseUrl: 'https://dify.example.com/v1', apiKey: 'app-secret' }
const FILES_ENOUGH = 65_536

const configOf = (env: Record<string, string>, settings: object = {}) =>
  parseConfig({ agents: { dify }, ...settings }, { DATA_DIR: '/data', ...env })
const namesIn = (env: Record<string, string>) =>
  doubtfulSettings(configOf(env), FILES_ENOUGH).map(({ name }) => name)

describe('what production lacks', () => {
  const COMPLETE = {
    NODE_ENV: 'production',
    HOST: '0.0.0.0',
    SECRET_KEY: 'x'.repeat(32),
    PUBLIC_URL: 'https://gateway.example.com',
    OPS_PORT: '9090',
  }

  test.each(['SECRET_KEY', 'PUBLIC_URL', 'OPS_PORT'])(
    '%s is named where others reach the gateway',
    (name) => {
      expect(namesIn(COMPLETE)).toEqual([])
      for (const HOST of ['0.0.0.0', '::', '10.1.2.3', 'gateway', '127.example.com']) {
        // With an address of its own, that is the URL under which it is reached.
        const isReached = name === 'PUBLIC_URL' && !['0.0.0.0', '::'].includes(HOST)
        expect(namesIn({ ...COMPLETE, HOST, [name]: '' }), HOST).toEqual(isReached ? [] : [name])
      }
    },
  )

  test.each(['localhost', '127.0.0.1', '127.1.2.3', '::1'])('nothing is named on %s', (HOST) => {
    expect(namesIn({ NODE_ENV: 'production', HOST })).toEqual([])
  })

  test.each(['http://localhost:8080', 'http://127.0.0.1', 'http://[::1]:80'])(
    'the PUBLIC_URL %s is named',
    (url) => expect(namesIn({ ...COMPLETE, PUBLIC_URL: url })).toEqual(['PUBLIC_URL']),
  )

  test.each(['', 'development', 'test'])('nothing is named where NODE_ENV is %j', (NODE_ENV) => {
    expect(namesIn({ NODE_ENV, HOST: '0.0.0.0' })).toEqual([])
  })
})

test.each([
  ['0.0.0.0', true],
  ['::', true],
  ['10.1.2.3', true],
  ['gateway', true],
  ['127.0.0.1', false],
  ['::1', false],
  ['localhost', false],
])('a sandbox on HOST=%s is reachable from the network: %s', (HOST, isReachable) => {
  const named = doubtfulSettings({ ...configOf({ HOST }), sandbox: true }, FILES_ENOUGH)
  const problem = `is ${HOST}, so that the network reaches this sandbox, whose agents and commands are publicly known`
  expect(named).toEqual(isReachable ? [{ name: 'HOST', problem }] : [])
})

test('open files that are fewer than connections and calls need are named with both bounds', () => {
  const config = configOf({}, { connectionsMax: 1_000, chat: { inFlightMax: 100 } })
  expect(doubtfulSettings(config, 1_356)).toEqual([])
  expect(doubtfulSettings(config, 1_355)).toEqual([
    {
      name: 'connectionsMax',
      problem: 'with chat.inFlightMax it needs 1356 open files, and the process may have 1355 (ulimit -n)',
    },
  ])
  // The limit of this process, on Linux.
  const huge = configOf({}, { connectionsMax: Number.MAX_SAFE_INTEGER })
  expect(doubtfulSettings(huge)).toHaveLength(process.platform === 'linux' ? 1 : 0)
})

test('a variable that looks like one of ours is named', () => {
  expect(doubtfulSettings(configOf({ LOGLEVEL: 'info' }), FILES_ENOUGH)).toEqual([
    { name: 'LOGLEVEL', problem: 'is not read; did you mean LOG_LEVEL?' },
  ])
})

describe('HOST', () => {
  const errorsAt = async (HOST: string) =>
    (await checkEnvironment(configOf({ HOST }))).filter(({ level }) => level === 'error')

  test.each(['localhost', '127.0.0.1', '0.0.0.0'])('%s can be listened on', async (host) => {
    expect(await errorsAt(host)).toEqual([])
  })

  test.each([
    // An address of a network that is set aside for documentation.
    ['192.0.2.1', /^HOST: cannot listen on 192\.0\.2\.1: it is no address of this machine\.$/],
    // Too long for a name server to be asked.
    ['x'.repeat(64), /^HOST: cannot listen on x{64}: .*name/],
  ])('%s is an error', async (host, message) => {
    expect(await errorsAt(host)).toEqual([
      { level: 'error', subject: 'environment', message: expect.stringMatching(message) },
    ])
  })
})
