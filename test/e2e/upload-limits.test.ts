import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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

// A process, because uploads are held open at the same time, each on its connection, to compete for the last bytes.

let system: GatewayWithUploads

const SPACE_BYTES = 1_000_000
const POINTS = 10

beforeAll(async () => {
  system = await startGatewayWithUploads({
    uploads: { bytesPerOwnerMax: SPACE_BYTES },
    settings: { limits: { upload: { points: POINTS }, calls: { points: 1_000_000 } } },
  })
})
afterAll(() => system.gateway.remove())

const MP4 = readFileSync(
  join(import.meta.dirname, '../../apps/gateway/src/core/uploads/content/fixtures/ffmpeg.mp4'),
)
const film = (bytes: number) => Buffer.concat([MP4, Buffer.alloc(bytes - MP4.length)])
const formWith = (content: Uint8Array) => formOf(CREATED_BY, filePart(content, 'film.mp4'))
const USED_UP = {
  code: 413,
  reason: 'upload_space_used_up',
  detail: `body.file: the uploads of a user may have at most ${SPACE_BYTES} bytes in all; delete some, or wait until they expire.`,
}

describe('the space of a user', () => {
  test('can be used to the last byte, for all of its keys together, and is free again after a deletion', async () => {
    const { api, gateway } = system
    const ann = await system.createUploader('ann')
    const second = await api.createKey(ann.token, { permissions: ['upload'] })
    const send = (key: string, bytes: number) => sendForm(gateway.url, key, formWith(film(bytes)))
    const first = await send(ann.full_key, 600_000)
    expect(first.status).toBe(200)
    const refused = await send(second.full_key, 400_001)
    expect([refused.status, refused.body]).toMatchObject([413, USED_UP])
    expect(await system.settledCall(refused.headers.get('x-call-id') ?? '')).toMatchObject({
      kind: 'upload',
      outcome: 'rejected',
      reason: 'upload_space_used_up',
    })
    const last = await send(second.full_key, 400_000)
    expect(last.status).toBe(200)
    expect((await sendForm(gateway.url, ann.full_key, formOf(CREATED_BY, filePart('x')))).body).toMatchObject(
      USED_UP,
    )
    await system.expectStored(first.body.data.url, last.body.data.url)

    const remove = (id: string) => api.call('DELETE', `/api/v1/uploads/${id}`, { token: ann.token })
    expect((await remove(last.body.data.id)).status).toBe(200)
    const again = await send(ann.full_key, 400_000)
    expect(again.status).toBe(200)
    for (const { body } of [first, again]) expect((await remove(body.data.id)).status).toBe(200)
    await system.expectStored()
  })

  test('is not exceeded by uploads at the same time', async () => {
    const { api, gateway } = system
    const bob = await system.createUploader('bob')
    const content = film(300_000)
    const uploads = Array.from({ length: 4 }, () => openUpload(gateway.url, bob.full_key))
    for (const upload of uploads) {
      await upload.write(formUpToFile('film.mp4'))
      await upload.write(content.subarray(0, 100_000))
    }
    // All of them have begun, so each has found enough space.
    await system.inProgress(4)
    for (const upload of uploads) {
      await upload.write(content.subarray(100_000))
      await upload.write(END_OF_FORM)
      upload.end()
    }
    const answers = await Promise.all(uploads.map(({ answer }) => answer))
    const stored = answers.filter(({ status }) => status === 200)
    const refused = answers.filter(({ status }) => status !== 200)
    expect(stored).toHaveLength(3)
    for (const { status, body } of refused) expect([status, body]).toMatchObject([413, USED_UP])
    await system.expectStored(...stored.map(({ body }) => body.data.url))
    for (const { body } of stored) {
      expect((await api.call('DELETE', `/api/v1/uploads/${body.data.id}`, { token: bob.token })).status).toBe(
        200,
      )
    }
  })
})

describe('the limit of uploads', () => {
  test('is kept for each key, says so in its headers, and counts admitted uploads only', async () => {
    const { gateway, api } = system
    const cid = await system.createUploader('cid')
    const send = (key: string, ...parts: FormPart[]) => sendForm(gateway.url, key, formOf(...parts))
    // Refused before the first byte of a file, so it does not count.
    expect((await send(cid.full_key, CREATED_BY)).headers.get('ratelimit')).toBeNull()
    const answers = []
    for (let count = 1; count <= POINTS; count += 1) {
      // Every other one is refused after it was admitted, and counts.
      answers.push(await send(cid.full_key, CREATED_BY, filePart(count % 2 === 0 ? '\0' : 'text')))
    }
    for (const [index, { status, headers }] of answers.entries()) {
      expect(status).toBe(index % 2 === 0 ? 200 : 415)
      expect(headers.get('ratelimit-policy')).toBe(`"upload";q=${POINTS};w=60`)
      expect(headers.get('ratelimit')).toMatch(new RegExp(`^"upload";r=${POINTS - 1 - index};t=\\d+$`))
    }
    const over = await send(cid.full_key, CREATED_BY, filePart('text'))
    expect([over.status, over.body.reason]).toEqual([429, 'rate_limited'])
    expect(over.headers.get('ratelimit')).toMatch(/^"upload";r=0;t=\d+$/)
    const retryAfter = Number(over.headers.get('retry-after'))
    expect(retryAfter).toBeGreaterThan(0)
    expect(retryAfter).toBeLessThan(60)
    expect(over.headers.get('x-call-id')).toBeNull()
    expect(await system.settledCalls(cid)).toHaveLength(POINTS)

    const second = await api.createKey(cid.token, {
      permissions: ['upload'],
      limits: { upload_per_minute: 1 },
    })
    expect((await send(second.full_key, CREATED_BY, filePart('text'))).status).toBe(200)
    expect((await send(second.full_key, CREATED_BY, filePart('text'))).status).toBe(429)
  })
})
