import { expect, test } from 'vitest'
import { connectionError } from './connection-error.ts'

const coded = (code: string, message = '') => Object.assign(new Error(message), { code })
const failed = (cause: unknown) => new TypeError('fetch failed', { cause })

test.each([
  ['refused', failed(coded('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:1'))],
  ['an unknown name', failed(coded('ENOTFOUND', 'getaddrinfo ENOTFOUND nowhere.test'))],
  [
    'all addresses refused',
    failed(Object.assign(new AggregateError([coded('ECONNREFUSED')]), { code: 'ECONNREFUSED' })),
  ],
  ['an address that does not answer', failed(coded('ETIMEDOUT', 'connect ETIMEDOUT 192.0.2.1:443'))],
  ['no time for a connection', failed(coded('UND_ERR_CONNECT_TIMEOUT', 'Connect Timeout Error'))],
  [
    'a certificate that nobody has signed',
    failed(coded('DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate')),
  ],
  ['a certificate of another host', failed(coded('ERR_TLS_CERT_ALTNAME_INVALID', 'Hostname does not match'))],
  ['an expired certificate', failed(coded('CERT_HAS_EXPIRED', 'certificate has expired'))],
  ['a port that fetch blocks', failed(new Error('bad port'))],
  ['Bun', coded('ConnectionRefused', 'Unable to connect. Is the computer able to access the url?')],
  ['Deno', new TypeError('error sending request: client error (Connect): tcp connect error')],
])('nothing was sent: %s', (_, error) => {
  expect(connectionError('It failed', error).wasConnected).toBe(false)
})

test.each([
  ['a reset', failed(coded('ECONNRESET', 'read ECONNRESET'))],
  ['an answer that does not come', failed(coded('ETIMEDOUT', 'read ETIMEDOUT'))],
  ['a socket that the other side closed', failed(coded('UND_ERR_SOCKET', 'other side closed'))],
  // A browser says only this, so that a request may have arrived.
  ['a browser', new TypeError('Failed to fetch')],
  ['no error', 'no error'],
  ['nothing', undefined],
])('something may have been sent: %s', (_, error) => {
  expect(connectionError('It failed', error).wasConnected).toBe(true)
})

test('the text says once with what it began', () => {
  const texts = [
    failed(coded('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:1')),
    failed(coded('UND_ERR_SOCKET', 'other side closed')),
    failed(coded('ECONNRESET')),
    failed(
      Object.assign(new AggregateError([coded('ECONNREFUSED', 'connect ECONNREFUSED ::1:1')]), {
        code: 'ECONNREFUSED',
      }),
    ),
    new TypeError('Failed to fetch'),
    'a text',
    undefined,
  ].map((error) => connectionError('It failed', error).message)
  expect(texts).toEqual([
    'It failed: ECONNREFUSED',
    'It failed: UND_ERR_SOCKET',
    'It failed: ECONNRESET',
    'It failed: ECONNREFUSED',
    'It failed: Failed to fetch',
    'It failed: a text',
    'It failed: undefined',
  ])
})

test('an error whose causes go in a circle ends', () => {
  const error = new Error('round')
  error.cause = error
  expect(connectionError('It failed', error).message).toBe('It failed: round')
})
