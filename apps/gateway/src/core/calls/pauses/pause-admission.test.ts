import { expect, test } from 'vitest'
import type { Pause } from '#core/agents/pause.ts'
import type { UnroutedCall } from '#core/calls/request/call.ts'
import type { Upload } from '#generated/prisma/client.ts'
import { PauseAdmission } from './pause-admission.ts'
import type { OpenPause } from './pauses.ts'

const PAUSE: Pause = {
  question: 'Which files?',
  options: [],
  fields: [{ name: 'photos', type: 'file-list', required: true }],
  takesText: false,
}
const ID = '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10'
const ISSUED = 'http://127.0.0.1:8080/files/t/a.png'
const open: OpenPause = {
  ...{ id: ID, conversation: 'c', deployment: 'main', state: 'main' },
  ...{ isExpired: false, kept: { pauses: [PAUSE] } },
}

/** The URLs that are looked up for an answer with these files. */
async function lookedUp(photos: readonly string[]): Promise<readonly string[]> {
  const found: string[] = []
  const files = {
    isIssued: (url: string) => url === ISSUED,
    async find(_owner: unknown, url: string) {
      found.push(url)
      return {} as Upload
    },
  }
  const pauses = { find: async () => open, drop: async () => undefined }
  const call = {
    conversation: { kind: 'named', id: 'c' },
    asks: { kind: 'question', query: '' },
  } as UnroutedCall
  const answer = { pause: ID, fields: { photos } }
  const slot = { route: { stayAt: () => undefined } } as never
  const answering = new PauseAdmission({ pauses, files }, { call, answer, slot, keepsNothing: false })
  await answering.meet(ID, 'owner', 'conversation')
  return found
}

test('an uploaded file is looked up once, however often an answer names it', async () => {
  const external = 'https://files.example.com/a.png'
  expect(await lookedUp([ISSUED, external, ISSUED, external, ISSUED])).toEqual([ISSUED])
})

test.each([
  [
    'too many URLs',
    Array.from({ length: 101 }, (_, at) => `https://a.example.com/${at}`),
    'at most 100 URLs',
  ],
  ['a host that is too long', [`https://${'a.'.repeat(200)}com/`], 'a URL whose host has at most 253'],
])('an answer with %s is refused by the name of its field', async (_what, photos, expected) => {
  await expect(lookedUp(photos)).rejects.toMatchObject({
    reason: 'invalid_request',
    detail: expect.stringContaining(`answer.fields.photos: expected ${expected}`),
  })
})

/** What becomes of a call whose pause another call has claimed since the admission met it. */
function meetClaimed(answer: { pause: string } | undefined) {
  const answering = new PauseAdmission(
    {
      pauses: { find: async () => undefined, drop: async () => undefined },
      files: { isIssued: () => false, find: () => Promise.reject(new Error('no file is named')) },
    },
    {
      call: { conversation: { kind: 'named', id: 'c' } } as UnroutedCall,
      answer,
      slot: { route: undefined as never },
      keepsNothing: false,
    },
  )
  return answering.meet(ID, 'owner', 'c')
}

test('an answer to a pause that another call has claimed meanwhile is too late', async () => {
  await expect(meetClaimed({ pause: ID })).rejects.toMatchObject({ reason: 'pause_over' })
})

test('a message that names no pause is admitted again once another call has claimed it', async () => {
  expect(await meetClaimed(undefined)).toEqual({ conversation: 'c' })
})
