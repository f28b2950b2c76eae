import { expect, test } from 'vitest'
import type { KeyLimits } from '#core/accounts/keys/key-limits.ts'
import type { AdmissionOptions, AdmissionRequest } from './admission.ts'
import { type AdmitDeps, type ArrivedChat, admitChat } from './admit-chat.ts'
import { requestOf } from './request/chat-request.test-support.ts'
import { agentWith } from './routing/routes.test-support.ts'

const KEY = { ownerId: 'owner-1' } as KeyLimits
const KEPT = { keyHash: 'key', bodyHash: 'body', form: () => ({}) as never }

/** What the admission is asked, of a call with or without an `Idempotency-Key`. */
async function askedOf(isKept: boolean, call: Partial<ArrivedChat['call']> = {}) {
  const taken: string[] = []
  let asked: AdmissionRequest | undefined
  let options: AdmissionOptions = {}
  const deps = {
    admission: {
      async admit(request: AdmissionRequest, given: AdmissionOptions) {
        asked = request
        options = given
        return { record: request, keyId: 'key-1', ownerId: 'owner-1' }
      },
    },
    kept: { requireRoom: (ownerId: string) => void taken.push(`room of ${ownerId}`) },
    namesConversations: false,
  } as unknown as AdmitDeps
  const places = { isDraining: false }
  const request = requestOf()
  await admitChat(deps, places, {
    request: isKept ? { ...request, kept: KEPT } : request,
    call: {
      agent: agentWith([{ id: 'main' }]),
      conversation: { kind: 'new' },
      asks: { kind: 'question', query: 'hello' },
      ...call,
    } as ArrivedChat['call'],
    ...{ callId: 'call-1', conversationId: 'c-1', keyHash: 'hash' },
    slot: { takeFor: () => void taken.push('slot') } as never,
    place: undefined,
    observer: undefined,
  })
  return { asked, takeSlot: () => options.slot?.takeFor(KEY), places, taken }
}

test('a plain call takes its slot, names no pause and keeps nothing', async () => {
  const { asked, takeSlot, taken } = await askedOf(false)
  takeSlot()
  expect([asked?.kept, asked?.answers, taken]).toEqual([undefined, undefined, ['slot']])
})

test('a kept call that runs takes room for its reply before its slot, and none in a process that drains', async () => {
  const { takeSlot, places, taken } = await askedOf(true)
  takeSlot()
  expect(taken).toEqual(['room of owner-1', 'slot'])
  places.isDraining = true
  expect(takeSlot).toThrow(expect.objectContaining({ reason: 'draining' }))
})

test('two requests for a new conversation are the same, and others with the same key are not', async () => {
  const fingerprints = await Promise.all(
    [{}, {}, { conversation: { kind: 'named', id: 'c' } as const }, { endUser: 'ada' }, { stream: true }].map(
      async (call) => (await askedOf(true, call)).asked?.kept?.fingerprint,
    ),
  )
  expect(fingerprints[0]).toBe(fingerprints[1])
  expect(new Set(fingerprints).size).toBe(4)
})
