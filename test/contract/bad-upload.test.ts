import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operationOf } from '../support/contract/contract.ts'
import {
  type ContractGateway,
  inventedKey,
  startContractGateway,
} from '../support/contract/contract-gateway.ts'
import { expectDocumented } from '../support/contract/expect-documented.ts'
import { BOUNDARY, FILE_PART, formOf, LABEL_PART, uploadForm } from '../support/contract/form.ts'
import { exchange } from '../support/contract/raw.ts'
import type { Answer } from '../support/contract/send.ts'
import { uploadRequest } from '../support/contract/upload-provocations.ts'
import { filesIn } from '../support/files-in.ts'
import { until } from '../support/until.ts'

// A process, because forms are refused, cut off and closed while they are being sent, and the directory must be as before.

const UPLOAD = operationOf('upload')
const TEXT = 'expected a string of 1 to 256 characters that is not blank.'
const USER = 'expected at most 256 characters, no control characters or lone surrogates.'
const PARTS = 'expected the parts file, created_by and end_user; got'

let gateway: ContractGateway
beforeAll(async () => {
  gateway = await startContractGateway({ refusedKeys: { points: 10_000 } })
})
afterAll(() => gateway?.remove())

const storedFiles = () => filesIn(gateway.filesFolder)

function expectRefused(answer: Answer, status: number, reason: string, detail: string): void {
  expect(answer.body, answer.text).toMatchObject({ code: status, reason })
  expect(answer.body.detail.slice(0, detail.length)).toBe(detail)
  expectDocumented(UPLOAD, answer)
}

describe('a form', () => {
  const label = (change: object) => formOf([FILE_PART, { ...LABEL_PART, ...change }])
  const file = (change: object) => formOf([LABEL_PART, { ...FILE_PART, ...change }])
  const beside = (...parts: object[]) =>
    formOf([...parts.map((change) => ({ content: 'x', ...change })), LABEL_PART, FILE_PART])
  const many = (count: number, name: (index: number) => string) =>
    beside(...Array.from({ length: count }, (_, index) => ({ name: name(index) })))
  const { headers, body: whole } = uploadForm()
  const withBody = (body: Buffer) => ({ headers, body })

  const refused: [what: string, form: ReturnType<typeof formOf>, detail: string][] = [
    ['without parts', formOf([]), 'body.file: is required'],
    ['without a file', formOf([LABEL_PART]), 'body.file: is required; expected one file.'],
    ['without a label', formOf([FILE_PART]), `body.created_by: is required; ${TEXT}`],
    ['with two files', formOf([LABEL_PART, FILE_PART, FILE_PART]), 'body.file: was sent twice'],
    ['with two labels', formOf([LABEL_PART, LABEL_PART, FILE_PART]), 'body.created_by: was sent twice'],
    ['with an empty file', file({ content: '' }), 'body.file: is empty'],
    ['with an empty label', label({ content: '' }), `body.created_by: ${TEXT}`],
    ['with a blank label', label({ content: ' \t ' }), `body.created_by: ${TEXT}`],
    ['with a label of two lines', label({ content: 'a\nb' }), `body.created_by: ${TEXT}`],
    ['with a NUL in the label', label({ content: 'a\0b' }), `body.created_by: ${TEXT}`],
    ['with a label of 257 characters', label({ content: '😀'.repeat(257) }), `body.created_by: ${TEXT}`],
    ['with a label of 10 KiB', label({ content: 'x'.repeat(10_240) }), `body.created_by: ${TEXT}`],
    [
      'with a label that is a file',
      label({ filename: 'a.txt' }),
      'body.created_by: expected a text, without',
    ],
    [
      'with a label in JSON',
      label({ type: 'application/json', content: '"me"' }),
      'body: expected created_by',
    ],
    [
      'with a label in broken JSON',
      label({ type: 'application/json' }),
      'body: expected created_by and end_user as plain',
    ],
    ['with a text as its file', file({ filename: undefined }), 'body.file: expected a file, with a filename'],
    ['with another part', beside({ name: 'users' }), `body: ${PARTS} a field with the name "users"`],
    [
      'with two end users',
      beside({ name: 'end_user' }, { name: 'end_user' }),
      'body.end_user: was sent twice',
    ],
    [
      'with an end user of two lines',
      beside({ name: 'end_user', content: 'a\nb' }),
      `body.end_user: ${USER}`,
    ],
    [
      'with an end user of 257 characters',
      beside({ name: 'end_user', content: '😀'.repeat(257) }),
      `body.end_user: ${USER}`,
    ],
    [
      'with an end user that is a file',
      beside({ name: 'end_user', filename: 'a.txt' }),
      'body.end_user: expected a text, without',
    ],
    ['with another file', beside({ name: 'a', filename: 'a' }), `body: ${PARTS} a file with the name "a"`],
    ['with an empty name', beside({ name: '' }), `body: ${PARTS} a field with the name ""`],
    ['with a part without a name', beside({}), `body: ${PARTS} a field with the name ""`],
    ['with a file without a name', beside({ filename: 'a' }), `body: ${PARTS} a file with the name ""`],
    [
      'with a name of 10 KiB',
      beside({ name: 'x'.repeat(10_240) }),
      `body: ${PARTS} a field with the name "xxx`,
    ],
    ['with the name __proto__', beside({ name: '__proto__' }), `body: ${PARTS} one with a reserved name.`],
    [
      'with a file constructor',
      beside({ name: 'constructor', filename: 'a' }),
      `body: ${PARTS} one with a reserved name.`,
    ],
    ['with 50 parts', many(50, (index) => `p${index}`), `body: ${PARTS} a field with the name "p0"`],
    ['with 50 reserved names', many(50, () => 'toString'), `body: ${PARTS} more than 10 parts.`],
    ['that ends early', withBody(whole.subarray(0, -6)), 'body: is not complete'],
    ['that ends in a header', withBody(whole.subarray(0, 40)), 'body: is not complete'],
    ['with another boundary', withBody(formOf([FILE_PART], 'b').body), 'body: is not'],
    ['without anything', withBody(Buffer.alloc(0)), 'body.file: is required'],
  ]

  test.each(refused)('%s is refused', async (_what, form, detail) => {
    const before = await storedFiles()
    const answer = await gateway.send('upload', { as: gateway.uploadKey, ...form })
    expectRefused(answer, 400, 'invalid_request', detail)
    expect(await storedFiles()).toEqual(before)
  })

  test.each([
    ['with headers of 100 KiB', file({ lines: [`X-Note: ${'x'.repeat(102_400)}`] })],
    ['with a label of 1 MiB', label({ content: 'x'.repeat(1024 * 1024) })],
    ['behind 1 MiB', withBody(Buffer.concat([Buffer.alloc(1024 * 1024), whole]))],
  ])('%s is refused as too large', async (_what, form) => {
    const before = await storedFiles()
    const answer = await gateway.send('upload', { as: gateway.uploadKey, ...form })
    expectRefused(answer, 413, 'body_too_large', 'body: is too large; expected at most 65536 bytes besides')
    expect(await storedFiles()).toEqual(before)
  })

  test.each([
    ['with its file first', formOf([FILE_PART, LABEL_PART])],
    ['with the largest file', uploadForm('x'.repeat(64 * 1024))],
    ['with a file without a type', file({ type: undefined })],
    ['with 256 characters as the label', label({ content: '😀'.repeat(256) })],
    ['with text before and after it', withBody(Buffer.from(`hello\r\n${whole}\r\nbye`))],
    [
      'with a type in upper case',
      { body: whole, headers: { 'content-type': `Multipart/Form-Data; Boundary="${BOUNDARY}"` } },
    ],
  ])('%s is accepted', async (_what, form) => {
    const answer = await gateway.send('upload', { as: gateway.uploadKey, ...form })
    expect(answer.status, answer.text).toBe(200)
    expectDocumented(UPLOAD, answer)
  })
})

describe('a body', () => {
  const type = (value: string) => ({ 'content-type': value })

  test.each([
    ['without a boundary', type('multipart/form-data'), 400, 'invalid_request', 'content-type: expected'],
    [
      'with an empty one',
      type('multipart/form-data; boundary='),
      400,
      'invalid_request',
      'content-type: expected',
    ],
    [
      'with an endless one',
      type(`multipart/form-data; boundary=${'b'.repeat(5_000)}`),
      400,
      'invalid_request',
      'body: ',
    ],
    [
      'of mixed parts',
      type(`multipart/mixed; boundary=${BOUNDARY}`),
      415,
      'unsupported_media_type',
      'content-type: ',
    ],
    [
      'of a simple form',
      type('application/x-www-form-urlencoded'),
      415,
      'unsupported_media_type',
      'content-type: ',
    ],
    [
      'of JSON',
      type('application/json'),
      415,
      'unsupported_media_type',
      'content-type: expected multipart/form-data.',
    ],
    [
      'without a type',
      type(''),
      415,
      'unsupported_media_type',
      'content-type: expected multipart/form-data.',
    ],
    [
      'in gzip',
      { 'content-encoding': 'gzip' },
      415,
      'unsupported_media_type',
      'content-encoding: expected identity',
    ],
    ['for no agent', { agent: 'nobody' }, 400, 'unknown_agent', 'headers.agent: expected one of '],
  ])('%s is refused', async (_what, headers, status, reason, detail) => {
    const good = uploadRequest(gateway)
    const answer = await gateway.send('upload', { ...good, headers: { ...good.headers, ...headers } })
    expectRefused(answer, status, reason, detail)
  })

  const head = (...lines: string[]) =>
    [
      'POST /api/v1/upload HTTP/1.1',
      'Host: a',
      `Authorization: Bearer ${gateway.uploadKey}`,
      ...lines,
      '',
      '',
    ].join('\r\n')
  const FORM = `Content-Type: multipart/form-data; boundary=${BOUNDARY}`

  test('that is absent is refused, with and without a type', async () => {
    expectRefused(
      await exchange(gateway.url, head('Connection: close', FORM)),
      400,
      'invalid_request',
      'body.file:',
    )
    expectRefused(
      await exchange(gateway.url, head('Connection: close')),
      415,
      'unsupported_media_type',
      'content-type: expected multipart/form-data.',
    )
  })

  test('is asked for where the client waits for that', async () => {
    const { body } = uploadForm()
    const text = String(body)
    const { text: answered } = await exchange(
      gateway.url,
      head('Connection: close', FORM, 'Expect: 100-continue', `Content-Length: ${text.length}`) + text,
    )
    expect(answered).toContain('HTTP/1.1 200 OK')
  })

  test('that ends before its length leaves nothing behind', async () => {
    const before = await storedFiles()
    const { body } = uploadForm('x'.repeat(10_000))
    const cut = String(body).slice(0, 5_000)
    await exchange(gateway.url, `${head(FORM, 'Content-Length: 10200')}${cut}`, { end: true })
    await until('the file is gone', async () => (await storedFiles()).length === before.length)
  })

  test.each([
    ['a file far over the limit', () => uploadRequest(gateway, Buffer.alloc(16 * 1024 * 1024, 'x')), 413],
    [
      'a large file from nobody',
      () => ({ ...uploadRequest(gateway, Buffer.alloc(16 * 1024 * 1024)), as: inventedKey() }),
      401,
    ],
    [
      'a large file of no accepted type',
      () =>
        uploadRequest(
          gateway,
          Buffer.concat([Buffer.from('7f454c46', 'hex'), Buffer.alloc(16 * 1024 * 1024)]),
        ),
      415,
    ],
  ])(
    'with %s gets a response instead of a reset, and the connection closes',
    async (_what, request, status) => {
      const answer = await gateway.send('upload', request())
      expect(answer.status, answer.text).toBe(status)
      expectDocumented(UPLOAD, answer)
      expect(answer.headers.connection).toBe('close')
    },
  )
})
