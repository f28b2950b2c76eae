import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type GatewayWithUploads,
  type LedgerRow,
  startGatewayWithUploads,
} from '../support/gateway-with-uploads.ts'
import {
  CREATED_BY,
  END_OF_FORM,
  filePart,
  formOf,
  formUpToFile,
  openUpload,
  sendForm,
} from '../support/upload-client.ts'

// A process, because connections break in the middle of a body, and afterwards the disk, the ledger and the memory must be clean.

/** Eight at once, so the number is a multiple of it. */
const UPLOADS = process.env.SOAK ? 1_000 : 96
const AT_ONCE = 8
const TIMEOUT_MS = process.env.SOAK ? 30 * 60_000 : 180_000

const MAX_BYTES = 8 * 1024 * 1024

let system: GatewayWithUploads

beforeAll(async () => {
  system = await startGatewayWithUploads({ uploads: { maxBytes: MAX_BYTES } })
})
afterAll(() => system.gateway.remove())

const MP4 = readFileSync(
  join(import.meta.dirname, '../../apps/gateway/src/core/uploads/content/fixtures/ffmpeg.mp4'),
)
/** Up to two parts of a multipart upload to S3. */
const FILM = Buffer.concat([MP4, randomBytes(MAX_BYTES - MP4.length)])

type Broken = (typeof KINDS)[number]
const KINDS = [
  'left',
  'cut off',
  'too large',
  'wrong type',
  'empty',
  'two files',
  'no label',
  'no text',
] as const

/** Sends an upload that cannot succeed; `share` is how much arrives of what follows the head of the film. */
async function sendBroken(kind: Broken, share: number): Promise<void> {
  const { gateway, key } = system
  const send = (form: Uint8Array) => sendForm(gateway.url, key.full_key, form)
  const part = FILM.subarray(0, MP4.length + Math.floor(share * (FILM.length - MP4.length)))
  switch (kind) {
    case 'left': {
      const upload = openUpload(gateway.url, key.full_key)
      await upload.write(formUpToFile('film.mp4'))
      await upload.write(part)
      upload.leave()
      return
    }
    case 'cut off':
      // The body is complete for HTTP, but the form in it is not.
      return expectStatus(await send(Buffer.concat([formUpToFile('film.mp4'), part])), 400)
    case 'too large': {
      const form = Buffer.concat([formUpToFile('film.mp4'), FILM, randomBytes(65_536), END_OF_FORM])
      return expectStatus(await send(form), 413)
    }
    case 'wrong type': {
      const program = Buffer.concat([Buffer.from('\x7fELF\x02\x01\x01'), part])
      return expectStatus(await send(formOf(CREATED_BY, filePart(program, 'film.mp4'))), 415)
    }
    case 'empty':
      return expectStatus(await send(formOf(CREATED_BY, filePart(''))), 400)
    case 'two files':
      return expectStatus(
        await send(formOf(CREATED_BY, filePart(part, 'a.mp4'), filePart('b', 'b.txt'))),
        400,
      )
    case 'no label':
      return expectStatus(await send(formOf(filePart(part, 'film.mp4'))), 400)
    case 'no text': {
      // What does not belong to a text comes after the sample by which its type is decided.
      const text = Buffer.concat([Buffer.alloc(Math.max(part.length, 70_000), 'text '), Buffer.from([0])])
      return expectStatus(await send(formOf(CREATED_BY, filePart(text, 'note.txt'))), 415)
    }
  }
}

/**
 * An upload of the kind `left` may be gone before the gateway has admitted it; this one is not. It has a key of its own, by
 * which it is distinguished from those whose end the gateway has not noticed yet. Returns how its call ended.
 */
async function leaveAdmitted(): Promise<LedgerRow[]> {
  const key = await system.api.createKey(system.token, { permissions: ['upload'] })
  const upload = openUpload(system.gateway.url, key.full_key)
  await upload.write(formUpToFile('film.mp4'))
  await upload.write(MP4)
  await system.admitted(key)
  upload.leave()
  return await system.settledCalls(key)
}

const expectStatus = ({ status, body }: { status: number; body: unknown }, expected: number) =>
  expect({ status, body }).toMatchObject({ status: expected })

const byKind = fc.constantFrom(...KINDS)
const broken = fc.noBias(fc.tuple(byKind, fc.double({ min: 0, max: 1, noNaN: true })))

test(
  `${UPLOADS} broken uploads leave nothing: no file, no record, no space used, no call unsettled`,
  async () => {
    const all = fc.sample(broken, { numRuns: UPLOADS, seed: 20_261_122 })
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let next = all.pop(); next !== undefined; next = all.pop()) await sendBroken(...next)
      }),
    )
    const left = await leaveAdmitted()
    expect(left).toMatchObject([{ outcome: 'client_gone' }])
    await system.inProgress(0)
    await system.expectStored()
    const { api, token, gateway, key } = system
    const { body } = await api.call('GET', '/api/v1/uploads', { token })
    expect(body.data.items).toEqual([])
    const rows = await system.settledCalls(key)
    const outcomes = new Set(rows.map(({ outcome }) => outcome))
    expect([...outcomes].filter((outcome) => outcome !== 'client_gone')).toEqual(['rejected'])
    await gateway.stop()
    const [owner] = await gateway.query<{ bytes: string }>(
      'SELECT upload_bytes::text AS bytes FROM users WHERE id = $1',
      [key.owner_id],
    )
    expect(owner?.bytes).toBe('0')
  },
  TIMEOUT_MS,
)
