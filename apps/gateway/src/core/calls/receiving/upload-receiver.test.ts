import { readdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { PassThrough } from 'node:stream'
import { v7 } from 'uuid'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createRememberedKeys } from '#core/accounts/keys/key-limits.ts'
import { createAgentCatalog } from '#core/agents/catalog.ts'
import { type ErrorReason, Problem } from '#core/base/errors/errors.ts'
import { createAdmission } from '#core/calls/admission.ts'
import { followCalls, settleCalls } from '#core/calls/settle-calls.ts'
import { createClaimLookUp } from '#core/ledger/kept-claims.ts'
import { createLedger, type Ledger } from '#core/ledger/ledger.ts'
import { createTypeCheck } from '#core/uploads/content/file-type.ts'
import { INSTALLATION } from '#core/uploads/storage/storage.test-support.ts'
import {
  newUpload,
  openUploadFixture,
  type Uploader,
  type UploadFixture,
} from '#core/uploads/uploads.test-support.ts'
import { createUploadReceiver, type UploadReceiver, type UploadReceiverDeps } from './upload-receiver.ts'

const BOUNDS = { retentionDays: 7, bytesPerOwnerMax: 1_000, maxBytes: 1_000 }

let fixture: UploadFixture
let ledger: Ledger
let uploader: Uploader

beforeAll(async () => {
  fixture = await openUploadFixture()
  const { sql } = fixture.database
  const observer = { batch: () => undefined, settleFailed: () => undefined }
  ledger = createLedger({ sql, runtime: fixture.runtime, instanceId: v7(), observer })
})
afterAll(async () => {
  await ledger.close(5_000)
  await fixture.close()
})
beforeEach(async () => {
  uploader = await fixture.newUploader()
})

function receiverOf(more: Partial<UploadReceiverDeps>): UploadReceiver {
  const { database, runtime, storage, limits } = fixture
  const { sql } = database
  const keyLimits = createRememberedKeys({ sql, runtime }).read
  return createUploadReceiver({
    sql,
    runtime,
    storage,
    bounds: BOUNDS,
    catalog: createAgentCatalog([]),
    turns: { inFlightMax: 2, inFlightPerOwnerMax: 1, waitMs: 30_000 },
    admission: createAdmission({
      limits,
      keyLimits,
      lookUpClaim: createClaimLookUp({ sql }),
      ledger,
      observe: () => undefined,
    }),
    keyWatch: { watch: () => () => undefined },
    checkType: createTypeCheck(['text/plain']),
    installation: () => INSTALLATION,
    // No test of this file is about time.
    times: { stalledMs: 3_600_000, timeoutMs: 3_600_000 },
    observe: () => undefined,
    ...more,
  })
}

describe('an upload whose key is not valid any more', () => {
  const LABEL = { kind: 'field', name: 'created_by', value: 'me' } as const
  const fileOf = (body: PassThrough) => ({
    ...({ kind: 'file', name: 'file' } as const),
    filename: 'a.txt',
    body,
    problemOf: () => new Problem('invalid_request'),
  })

  /** Sends an upload up to the given parts, ends its key, and returns what it ended with and how it was settled. */
  async function endAfter(parts: () => AsyncGenerator<ReturnType<typeof fileOf> | typeof LABEL>) {
    const settle = vi.fn<Ledger['settle']>()
    const ends: string[] = []
    const refused = Promise.withResolvers<(reason: ErrorReason) => void>()
    const receiving = receiverOf({
      observe: followCalls([settleCalls({ settle })]),
      keyWatch: {
        watch(key, onRefused) {
          expect(key).toMatchObject({ keyId: uploader.keyId, ownerId: uploader.owner.userId })
          refused.resolve(onRefused)
          return () => ends.push('the watch')
        },
      },
    }).receive(
      uploader.caller,
      {
        ...({ requestId: '', face: 'rest', address: '', agent: undefined } as const),
        credential: uploader.fullKey,
      },
      parts(),
      new AbortController().signal,
    )
    const reason = receiving.then(
      () => 'stored',
      (error) => error.reason,
    )
    const refuse = await refused.promise
    return { refuse, reason, settle, ends }
  }
  async function files(): Promise<string[]> {
    const folder = dirname(
      dirname(fixture.storage.pathOf({ token: newUpload(uploader).token, name: 'a.txt' })),
    )
    const found = await readdir(folder, { recursive: true, withFileTypes: true })
    return found.filter((entry) => entry.isFile()).map(({ name }) => name)
  }
  const REJECTED = [[expect.objectContaining({ outcome: 'rejected', reason: 'key_revoked' })]]

  test('in the middle of its file is rejected at once, and nothing is left', async () => {
    const before = await files()
    const body = new PassThrough()
    body.write('Hello')
    const upload = await endAfter(async function* () {
      yield LABEL
      yield fileOf(body)
    })
    upload.refuse('key_revoked')
    expect(await upload.reason).toBe('key_revoked')
    expect([upload.settle.mock.calls, upload.ends]).toEqual([REJECTED, ['the watch']])
    await vi.waitFor(async () => expect(await files()).toEqual(before))
  })

  test('after its file is rejected as well, and nothing is left', async () => {
    const before = await files()
    const body = new PassThrough()
    body.end('Hello')
    const stored = Promise.withResolvers<void>()
    const upload = await endAfter(async function* () {
      yield fileOf(body)
      stored.resolve()
      // The rest of the form never arrives.
      await new Promise(() => undefined)
    })
    await stored.promise
    upload.refuse('key_revoked')
    expect(await upload.reason).toBe('key_revoked')
    expect([upload.settle.mock.calls, upload.ends]).toEqual([REJECTED, ['the watch']])
    expect(await files()).toEqual(before)
    expect(await fixture.bytesOf(uploader)).toBe(0)
  })

  test('that has ended is not ended again', async () => {
    const body = new PassThrough()
    body.end('Hello')
    const upload = await endAfter(async function* () {
      yield LABEL
      yield fileOf(body)
    })
    expect(await upload.reason).toBe('stored')
    upload.refuse('key_revoked')
    expect(upload.settle.mock.calls).toEqual([[expect.objectContaining({ outcome: 'done' })]])
    expect(upload.ends).toEqual(['the watch'])
  })
})
