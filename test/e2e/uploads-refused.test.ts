import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../support/api.ts'
import { type GatewayWithUploads, startGatewayWithUploads } from '../support/gateway-with-uploads.ts'
import {
  CREATED_BY,
  END_OF_FORM,
  type FormPart,
  filePart,
  formOf,
  formUpToFile,
  openUpload,
  sendForm,
} from '../support/upload-client.ts'

// A process, because a file is refused while it is being sent, and the connection is closed before its end.

let system: GatewayWithUploads

/** More than one part of a multipart upload to S3, so that one has been stored when the file is refused. */
const MAX_BYTES = 6 * 1024 * 1024

beforeAll(async () => {
  system = await startGatewayWithUploads({ uploads: { maxBytes: MAX_BYTES } })
})
afterAll(() => system.gateway.remove())

afterEach(() => system.expectStored())

const MP4 = readFileSync(
  join(import.meta.dirname, '../../apps/gateway/src/core/uploads/content/fixtures/ffmpeg.mp4'),
)

interface Refusal {
  readonly status: number
  readonly reason: string
  readonly detail: RegExp
  /** Whether the first byte of a file had arrived, so that the call is in the ledger; undefined if that depends on the network. */
  readonly isCounted: boolean | undefined
}

/** Expects a refusal, the call that the ledger has for it, or none, and no new record. */
async function expectRefusal(answer: Answer, { status, reason, detail, isCounted }: Refusal): Promise<void> {
  expect([answer.status, answer.body]).toEqual([
    status,
    expect.objectContaining({ code: status, reason, detail: expect.stringMatching(detail) }),
  ])
  const callId = answer.headers.get('x-call-id')
  if (isCounted ?? callId !== null) {
    const rejected = { kind: 'upload', outcome: 'rejected', reason }
    expect(await system.settledCall(callId ?? '')).toMatchObject(rejected)
    expect(answer.headers.get('ratelimit')).toMatch(/^"upload";r=\d+;t=\d+$/)
  } else {
    expect(callId).toBeNull()
    const { settledCalls, key } = system
    expect((await settledCalls(key)).length).toBe(counted)
  }
  counted = (await system.settledCalls(system.key)).length
  const { body } = await system.api.call('GET', '/api/v1/uploads', { token: system.token })
  expect(body.data.items).toEqual([])
}

/** How many calls the ledger had after the previous test. */
let counted = 0

const invalid = (detail: RegExp, isCounted?: boolean): Refusal => ({
  status: 400,
  reason: 'invalid_request',
  detail,
  isCounted,
})
const notAccepted = (detail: RegExp): Refusal => ({
  status: 415,
  reason: 'file_type_not_accepted',
  detail,
  isCounted: true,
})

const text = filePart('text')
const field = (name: string, content: string): FormPart => ({ name, content })
const LABEL_MISSING = /^body\.created_by: is required; expected a string of 1 to 256 characters/
const LABEL_WRONG = /^body\.created_by: expected a string of 1 to 256 characters/
const OTHER_PARTS =
  /^body: expected the parts file, created_by and end_user; got a (field|file) with the name "\w+"\.$/

/** test/contract/bad-upload.test.ts has every mistake in a form; these are one before, in and after the file, and the file's own. */
const FORMS: readonly [string, readonly FormPart[], Refusal][] = [
  ['no file', [CREATED_BY], invalid(/^body\.file: is required; expected one file\.$/, false)],
  ['another field before the file', [CREATED_BY, field('purpose', 'x'), text], invalid(OTHER_PARTS, false)],
  ['another field after the file', [CREATED_BY, text, field('purpose', 'x')], invalid(OTHER_PARTS, true)],
  ['twelve parts', [CREATED_BY, ...Array.from({ length: 11 }, () => text)], invalid(/^body/, true)],
  ['a file without a label', [text], invalid(LABEL_MISSING, true)],
  [
    'two labels, one after the file',
    [CREATED_BY, text, CREATED_BY],
    invalid(/^body\.created_by: was sent twice/, true),
  ],
  ['a blank label after the file', [text, field('created_by', ' ')], invalid(LABEL_WRONG, true)],
  [
    'a program',
    [CREATED_BY, filePart(Buffer.from('7f454c46020101000000', 'hex'), 'a.txt')],
    notAccepted(/^body\.file: expected /),
  ],
  [
    'random bytes',
    [CREATED_BY, filePart(randomBytes(100_000), 'a.pdf')],
    notAccepted(/^body\.file: expected .*; found a file of no known type\.$/),
  ],
  [
    'a text that turns binary late',
    [CREATED_BY, filePart(Buffer.concat([Buffer.alloc(MAX_BYTES - 10, 'text '), Buffer.alloc(4)]))],
    notAccepted(/^body\.file: it begins as text, but what follows is not/),
  ],
  [
    'a text that ends within a character',
    [CREATED_BY, filePart(Buffer.concat([Buffer.alloc(100_000, '字'), Buffer.from([0xe5])]))],
    notAccepted(/^body\.file: it begins as text/),
  ],
]

describe.each(FORMS)('a form with %s', (_, parts, refusal) => {
  test.each([
    ['with its length', false],
    ['in chunks', true],
  ])('is refused %s', async (_framing, isChunked) => {
    await expectRefusal(await system.send(parts, { isChunked }), refusal)
  })
})

describe('a file that is too large', () => {
  const tooLarge = Buffer.concat([MP4, Buffer.alloc(MAX_BYTES - MP4.length + 1)])
  const refusal: Refusal = {
    status: 413,
    reason: 'body_too_large',
    isCounted: true,
    detail: new RegExp(`^body\\.file: expected at most ${MAX_BYTES} bytes\\.$`),
  }

  test('by one byte is refused, and one of the allowed size is not', async () => {
    await expectRefusal(await system.send([CREATED_BY, filePart(tooLarge, 'a.mp4')]), refusal)
    const { status, body } = await system.send([CREATED_BY, filePart(tooLarge.subarray(1), 'a.mp4')])
    // Without its first byte it is no film any more.
    expect([status, body.reason]).toEqual([415, 'file_type_not_accepted'])
    const whole = await system.send([CREATED_BY, filePart(tooLarge.subarray(0, MAX_BYTES), 'a.mp4')])
    expect(whole).toMatchObject({ status: 200, body: { data: { size: MAX_BYTES } } })
    const { token } = system
    await system.api.call('DELETE', `/api/v1/uploads/${whole.body.data.id}`, { token })
    counted += 2
  })

  test.each([
    ['with its length', 100 * MAX_BYTES],
    ['in chunks', undefined],
  ])('is refused %s as soon as it is, and the connection is closed', async (_, length) => {
    const { url } = system.gateway
    const upload = openUpload(url, system.key.full_key, length === undefined ? {} : { length })
    await upload.write(formUpToFile('a.mp4'))
    // The form never ends.
    await upload.write(tooLarge)
    const answer = await upload.answer
    await expectRefusal(answer, refusal)
    expect(answer.headers.get('connection')).toBe('close')
    upload.leave()
  })
})

describe('a broken form', () => {
  const whole = formOf(CREATED_BY, text)
  const upToFile = formUpToFile()
  const broken = /^body: is not complete multipart\/form-data\.$/

  test.each([
    ['ends before its first part', whole.subarray(0, 10), false],
    ['ends in a head', upToFile.subarray(0, -10), false],
    ['ends in the file', Buffer.concat([upToFile, Buffer.from('text')]), undefined],
    ['ends within its last boundary', whole.subarray(0, -10), undefined],
    [
      'has a file of 5 MiB whose end is cut',
      Buffer.concat([formUpToFile('a.mp4'), MP4, Buffer.alloc(5_300_000)]),
      true,
    ],
    ['is not a form', Buffer.from('{"file": 1}'), false],
  ])('that %s is refused', async (_, bytes, isCounted) => {
    const { url } = system.gateway
    for (const isChunked of [false, true]) {
      const answer = await sendForm(url, system.key.full_key, bytes, { isChunked })
      await expectRefusal(answer, invalid(broken, isCounted))
    }
  })

  test('that ends after its file has been admitted is refused, and counted', async () => {
    const { gateway, key, inProgress } = system
    const upload = openUpload(gateway.url, key.full_key)
    await upload.write(Buffer.concat([upToFile, Buffer.from('text')]))
    await inProgress(1)
    upload.end()
    await expectRefusal(await upload.answer, invalid(broken, true))
  })

  test.each([
    ['without a boundary', { 'content-type': 'multipart/form-data' }, 400, 'invalid_request'],
    ['as JSON', { 'content-type': 'application/json' }, 415, 'unsupported_media_type'],
    ['as a file', { 'content-type': 'application/pdf' }, 415, 'unsupported_media_type'],
    ['compressed', { 'content-encoding': 'gzip' }, 415, 'unsupported_media_type'],
  ])('that is sent %s is refused', async (_, headers, status, reason) => {
    const answer = await system.send([CREATED_BY, text], { headers })
    await expectRefusal(answer, { status, reason, detail: /./, isCounted: false })
  })

  test('with an end after its end is taken', async () => {
    const bytes = Buffer.concat([upToFile, Buffer.from('text'), END_OF_FORM, Buffer.from('epilogue')])
    const { status, body } = await sendForm(system.gateway.url, system.key.full_key, bytes)
    expect([status, body.data?.size]).toEqual([200, 4])
    const { token } = system
    await system.api.call('DELETE', `/api/v1/uploads/${body.data.id}`, { token })
    counted += 1
  })
})

test('after all refused uploads, no bytes are counted for anyone', async () => {
  const { gateway } = system
  await gateway.stop()
  expect(await gateway.query('SELECT DISTINCT upload_bytes::int FROM users')).toEqual([{ upload_bytes: 0 }])
  expect(await gateway.query('SELECT id FROM uploads')).toEqual([])
  expect(await gateway.query('SELECT id FROM calls WHERE outcome IS NULL')).toEqual([])
})
