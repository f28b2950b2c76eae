import { describe, expect, test } from 'vitest'
import { readCard } from './card.ts'

const AGENT = { baseUrl: 'https://agents.example.com/support' }
const HTTP = { protocolBinding: 'HTTP+JSON', protocolVersion: '1.0', url: 'https://agents.example.com/rest/' }
const RPC = { protocolBinding: 'JSONRPC', protocolVersion: '1.0', url: 'https://agents.example.com/rpc/' }
const GRPC = { protocolBinding: 'GRPC', protocolVersion: '1.0', url: 'https://agents.example.com:50051' }
const FORMER = {
  url: 'https://agents.example.com/a2a',
  protocolVersion: '0.3.0',
  preferredTransport: 'JSONRPC',
}

const read = (card: object, origins: readonly string[] = []) => readCard({ ...card }, AGENT, origins)

describe('the interface that is called', () => {
  test.each<[string, object, object]>([
    [
      'the first of version 1.0',
      { supportedInterfaces: [GRPC, HTTP, RPC] },
      { dialect: 'http', url: 'https://agents.example.com/rest' },
    ],
    ['that of JSON-RPC, unchanged', { supportedInterfaces: [RPC, HTTP] }, { dialect: 'rpc', url: RPC.url }],
    ['one of version 0.3', FORMER, { dialect: 'rpc-0.3', url: FORMER.url }],
    ['one of version 0.3 without a version', { url: FORMER.url }, { dialect: 'rpc-0.3' }],
    [
      'an additional one of 0.3',
      {
        ...FORMER,
        preferredTransport: 'GRPC',
        additionalInterfaces: [{ url: 'https://agents.example.com/b', transport: 'JSONRPC' }],
      },
      { dialect: 'rpc-0.3', url: 'https://agents.example.com/b' },
    ],
    [
      '1.0 before 0.3',
      { ...FORMER, supportedInterfaces: [{ ...RPC, protocolVersion: '0.3' }, HTTP] },
      { dialect: 'http' },
    ],
    [
      'one below the base URL',
      { supportedInterfaces: [{ ...HTTP, url: 'rest' }] },
      { url: 'https://agents.example.com/support/rest' },
    ],
    ['that of a tenant', { supportedInterfaces: [{ ...HTTP, tenant: 'acme' }] }, { tenant: 'acme' }],
    [
      'the one that may be called',
      { supportedInterfaces: [{ ...HTTP, url: 'https://evil.example/' }, RPC] },
      { dialect: 'rpc', url: RPC.url },
    ],
  ])('%s', (_name, card, chosen) => {
    expect(read(card)).toMatchObject({ ok: chosen })
  })

  test('may be at an origin that the entry lists', () => {
    const card = { supportedInterfaces: [{ ...RPC, url: 'https://eu.example.com:8443/rpc' }] }
    expect(read(card, ['https://eu.example.com:8443/'])).toMatchObject({
      ok: { url: 'https://eu.example.com:8443/rpc' },
    })
  })
})

test.each([
  'https://evil.example/rpc',
  'https://agents.example.com.evil.example/rpc',
  'https://agents.example.com@evil.example/rpc',
  'https://key:secret@agents.example.com/rpc',
  'http://agents.example.com/rpc',
  'https://agents.example.com:8443/rpc',
  'http://127.0.0.1:6379/',
  'http://169.254.169.254/latest/meta-data',
  '//evil.example/rpc',
  '\\\\evil.example\\rpc',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'https://',
])('a card that sends the key to %s cannot be used, and says so', (url) => {
  for (const card of [{ supportedInterfaces: [{ ...RPC, url }] }, { ...FORMER, url }]) {
    const result = read(card)
    expect(result).toMatchObject({ failure: { reason: 'agent_misconfigured' } })
    expect(JSON.stringify(result)).toContain('sends requests to')
    expect(JSON.stringify(result)).not.toContain('secret')
  }
})

test.each(['0.2.5', '0.2.6'])('a card of version %s is read as one of 0.3', (protocolVersion) => {
  expect(read({ ...FORMER, protocolVersion })).toMatchObject({ ok: { dialect: 'rpc-0.3' } })
})

test.each<[string, object]>([
  ['nothing', {}],
  ['gRPC alone', { supportedInterfaces: [GRPC] }],
  ['0.3 by HTTP', { ...FORMER, preferredTransport: 'HTTP+JSON' }],
  ['a later version', { supportedInterfaces: [{ ...RPC, protocolVersion: '2.0' }] }],
  ['an earlier version', { ...FORMER, protocolVersion: '0.2.4' }],
  ['values of other types', { supportedInterfaces: 'all', url: 7, additionalInterfaces: { a: 1 } }],
  ['null', { supportedInterfaces: [null], additionalInterfaces: [null], url: null }],
])('a card with %s names no interface that the gateway speaks', (_name, card) => {
  expect(read(card)).toMatchObject({
    failure: { reason: 'agent_misconfigured', note: expect.stringContaining('names no interface') },
  })
})

test.each<[string, object, string | undefined]>([
  ['none is named', {}, undefined],
  [
    '1.0 names a header',
    { key: { apiKeySecurityScheme: { location: 'header', name: 'X-API-Key' } } },
    'x-api-key',
  ],
  ['0.3 names a header', { key: { type: 'apiKey', in: 'header', name: 'api-key' } }, 'api-key'],
  [
    '`@a2a-js/sdk` names a header',
    { key: { scheme: { $case: 'apiKeySecurityScheme', value: { location: 'header', name: 'X-API-Key' } } } },
    'x-api-key',
  ],
  [
    'a bearer token does as well',
    { key: { type: 'apiKey', in: 'header', name: 'api-key' }, bearer: { type: 'http', scheme: 'bearer' } },
    undefined,
  ],
  ['a query parameter is named', { key: { type: 'apiKey', in: 'query', name: 'key' } }, undefined],
  [
    'the name is one that a card must not choose',
    { key: { type: 'apiKey', in: 'header', name: 'Host' } },
    undefined,
  ],
  ['the name is none', { key: { type: 'apiKey', in: 'header', name: 'x-key\r\nhost' } }, undefined],
])('where the key belongs if %s', (_name, securitySchemes, header) => {
  const result = read({ supportedInterfaces: [RPC], securitySchemes })
  expect('ok' in result && result.ok.keyHeader).toBe(header)
})
