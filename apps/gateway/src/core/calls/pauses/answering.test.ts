import { expect, test } from 'vitest'
import type { Pause } from '#core/agents/pause.ts'
import type { UnroutedCall } from '#core/calls/request/call.ts'
import type { OpenPause } from '#core/ledger/admission-row.ts'
import type { Upload } from '#generated/prisma/client.ts'
import { Answering } from './answering.ts'
import type { Pauses } from './pauses.ts'

const PAUSE: Pause = {
  question: 'Which files?',
  options: [],
  fields: [{ name: 'photos', type: 'file-list', required: true }],
  takesText: false,
}
const ID = '019a9f3e-7c00-7d2e-9a55-3c1f0b6f7a10'
const ISSUED = 'http://127.0.0.1:8080/files/t/a.png'
const open = { id: ID, conversation: 'c', deployment: 'main', state: 'main' } as OpenPause

/** The URLs that are looked up for an answer with these files. */
async function lookedUp(photos: readonly string[]): Promise<readonly string[]> {
  const found: string[] = []
  const files = {
    isIssued: (url: string) => url === ISSUED,
    async find(_ownerId: string, url: string) {
      found.push(url)
      return {} as Upload
    },
  }
  const pauses = { read: () => ({ pauses: [PAUSE] }) } as unknown as Pauses
  const call = {
    conversation: { kind: 'named', id: 'c' },
    asks: { kind: 'question', query: '' },
  } as UnroutedCall
  const answer = { pause: ID, fields: { photos } }
  const slot = { route: { stayAt: () => undefined } } as never
  const answering = new Answering({ pauses, files }, { call, answer, slot, keepsNothing: false })
  await answering.meet(open, 'owner', 'conversation')
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
