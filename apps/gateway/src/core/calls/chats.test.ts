import { expect, test } from 'vitest'
import type { KeyLimits } from '#core/accounts/keys/key-limits.ts'
import type { Upstream } from '#core/agents/upstream/upstream.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import type { AdmissionOptions, AdmissionRequest, AdmissionService } from './admission.ts'
import { type ChatDeps, createChatService } from './chats.ts'
import { requestOf } from './request/chat-request.test-support.ts'
import { agentWith } from './routing/routes.test-support.ts'
import { createRoutes } from './routing/routes.ts'

const KEY: KeyLimits = {
  keyId: 'key-1',
  ownerId: 'owner-1',
  permissions: ['chat'],
  allowedAgents: [],
  allowedAddresses: [],
  chatPerMinute: null,
  uploadPerMinute: null,
  invalid: null,
}

/** A process in which a key may have one stream, and the only deployment of an agent one call. */
function startChats() {
  const agent = agentWith([{ id: 'main', max: 1 }])
  const catalog = { current: () => new Map([[agent.id, agent]]), changes: () => undefined }
  const upstream = {} as Upstream
  const observer = { deploymentChanged: () => undefined, ownerRefused: () => undefined }
  const routes = createRoutes({ catalog, upstream, runtime: systemRuntime, observer })
  let refusal: Problem | undefined
  async function admit(request: AdmissionRequest, { place, slot }: AdmissionOptions = {}) {
    place?.takeFor(KEY)
    await slot?.takeFor(KEY)
    if (refusal !== undefined) throw refusal
    return { record: request, keyId: KEY.keyId, ownerId: KEY.ownerId }
  }
  // The parts that these calls do not reach are left out.
  const deps = {
    catalog,
    routes,
    upstream,
    runtime: systemRuntime,
    admission: { admit: admit as AdmissionService['admit'] },
    keyWatch: { watch: () => () => undefined },
    observe: () => undefined,
    bounds: { inFlightMax: 10, streamBytesMax: 1_000 },
    limits: { streamsPerKey: 1 },
    files: { isIssued: () => false },
    fileKeeper: {},
    pauses: {},
    authentication: { endUserHeader: undefined },
    derivedIds: { conversationKey: () => 'conversation' },
  } as unknown as ChatDeps
  const service = createChatService(deps)
  const request = requestOf({ stream: true })
  return {
    service,
    refuseWith: (problem: Problem | undefined) => {
      refusal = problem
    },
    start: () => service.start(request, new AbortController().signal),
  }
}

test('a call that the ledger refuses gives back its place and its slot', async () => {
  const { start, refuseWith, service } = startChats()
  refuseWith(new Problem('quota_exceeded'))
  await expect(start()).rejects.toMatchObject({ reason: 'quota_exceeded' })
  refuseWith(undefined)
  await start()
  expect(service.inFlight).toBe(1)
})

test('a call that has begun keeps its place and its slot until its reply ends', async () => {
  const { start, service } = startChats()
  const { events } = await start()
  await expect(start()).rejects.toMatchObject({ reason: 'rate_limited' })
  expect(service.inFlight).toBe(1)
  events.leave()
  expect(service.inFlight).toBe(0)
  await start()
  expect(service.inFlight).toBe(1)
})
