import { randomUUID } from 'node:crypto'
import {
  eventsOf,
  failureOf,
  type KeptClient,
  type KeptFace,
  type KeptQuestion,
  lastIdOf,
  reasonOf,
  receivedOf,
  withoutComments,
} from './kept-calls.ts'
import type { KeptReplicas } from './kept-replicas.ts'
import { query } from './query.ts'
import { readerOf } from './stream.ts'
import { until } from './until.ts'

/** Begins a stream at a client's gateway. */
export async function begin(client: KeptClient, question: KeptQuestion, face: KeptFace = 'chat') {
  const key = randomUUID()
  const response = await client.ask(face, key, { ...question, stream: true })
  if (response.status !== 200) throw new Error(`refused: ${await response.text()}`)
  return { key, response, callId: response.headers.get('x-call-id') ?? '' }
}

/** How the calls of an API key have ended, once all have. */
export function outcomesOf({ databaseUrl }: KeptReplicas, keyId: string): Promise<(string | null)[]> {
  return until('every call has ended', async () => {
    const rows = await query<{ outcome: string | null }>(
      databaseUrl,
      'SELECT outcome FROM calls WHERE key_id = $1',
      [keyId],
    )
    const outcomes = rows.map(({ outcome }) => outcome)
    return outcomes.every((outcome) => outcome !== null) && outcomes
  })
}

/** The same without the calls whose admission a busy machine has answered too late: they are taken back, and their clients ask again. */
export async function answeredOf(replicas: KeptReplicas, keyId: string): Promise<(string | null)[]> {
  return (await outcomesOf(replicas, keyId)).filter((outcome) => outcome !== 'rejected')
}

export interface SameAnswer {
  readonly status: number
  readonly text: string
  readonly callId: string | null
}

/** Sends the same request many times at once, to all gateways in turn, and again where a gateway asks for that, as clients do. */
export function askAll(
  replicas: KeptReplicas,
  apiKey: string,
  idempotencyKey: string,
  { times, ...question }: KeptQuestion & { readonly times: number },
): Promise<SameAnswer[]> {
  return Promise.all(
    Array.from({ length: times }, async (_, index) => {
      const ask = () => replicas.client(index, apiKey).ask('chat', idempotencyKey, question)
      let response = await ask()
      let text = withoutComments(await response.text())
      while (response.status === 503 && reasonOf(text) === 'unavailable') {
        await pause(1_000 * Number(response.headers.get('retry-after')))
        response = await ask()
        text = withoutComments(await response.text())
      }
      return { status: response.status, text, callId: response.headers.get('x-call-id') }
    }),
  )
}

/**
 * How long stops from the second gateway take to reach the platform of a call that runs in the first, the shortest first.
 *
 * @throws Error if a stream does not end as stopped
 */
export async function stopTimes(replicas: KeptReplicas, count: number): Promise<number[]> {
  const { seen } = replicas.sandbox.agents.openai
  const times: number[] = []
  for (let time = 0; time < count; time += 1) {
    const asked = `sandbox:silence Hello ${randomUUID()}`
    const { response, callId } = await begin(replicas.client(0), { query: asked })
    const reader = readerOf(response)
    await reader.until(/^id: 1$/m)
    const startedMs = performance.now()
    await replicas.client(1).stop(callId)
    await seen.waitFor(({ runs }) => runs.find((run) => run.query === asked)?.state === 'aborted')
    times.push(performance.now() - startedMs)
    const text = await reader.rest()
    if (failureOf(text) !== 'stopped') throw new Error(`a stream that was stopped ended with ${text}`)
  }
  return times.sort((a, b) => a - b)
}

export interface KillOutcome {
  /** The calls that were admitted before the process died. */
  readonly interrupted: number
  /** What was not as it must be. */
  readonly faults: readonly string[]
}

const CALLS_A_KILL = 6

/**
 * Kills the first gateway at a random moment of several calls, of which one requests JSON, and starts it again. The second
 * gateway shows what becomes of them.
 */
export async function killAmidCalls(replicas: KeptReplicas): Promise<KillOutcome> {
  const [victim] = replicas.gateways
  if (victim === undefined) throw new Error('there is no gateway')
  const { id: keyId, full_key: apiKey } = await replicas.api.createKey(replicas.token)
  const [there, survivor] = [replicas.client(0, apiKey), replicas.client(1, apiKey)]
  const { seen } = replicas.sandbox.agents.openai
  const calls = Array.from({ length: CALLS_A_KILL }, (_, number) => {
    const key = randomUUID()
    const words = `sandbox:slow=${5 + number} sandbox:long=1000 ${key}`
    return { key, query: words, stream: number < CALLS_A_KILL - 1 }
  })
  const asking = calls.map(async (call) => {
    await pause(300 * Math.random())
    const response = await there.ask('chat', call.key, call).catch(() => undefined)
    const live = call.stream && response ? survivor.resume(`key:${call.key}`).then(receivedOf) : undefined
    return { call, received: response ? await receivedOf(response) : '', live: await live }
  })
  await seen.waitFor(() => calls.some((call) => seen.turns({ query: call.query }) > 0))
  await pause(600 * Math.random())
  await victim.kill()
  const faults: string[] = []
  let interrupted = 0
  for (const { call, received, live } of await Promise.all(asking)) {
    const expect = (what: string, isSo: boolean) => {
      if (!isSo) faults.push(`${call.key}: ${what}`)
    }
    const name = `key:${call.key}`
    const ended = await survivor.ended(name)
    const reason = reasonOf(await ended.text())
    // One that died before it was admitted is unknown.
    if (reason === 'call_not_found') continue
    interrupted += 1
    expect('the reply is interrupted', ended.status === 502 && reason === 'interrupted')
    const again = await survivor.ask('chat', call.key, call)
    const repeated = await again.text()
    expect('a retry is advised against', again.headers.get('x-should-retry') !== 'true')
    if (call.stream) {
      const stored = await (await survivor.resume(name)).text()
      const frames = eventsOf(stored).filter((event) => event.includes('"interrupted"'))
      expect('there is one frame', frames.length === 1 && failureOf(stored) === 'interrupted')
      const prefix = eventsOf(stored).slice(0, -1).join('')
      expect('it is a prefix', received.startsWith(prefix) || prefix.startsWith(received))
      expect('a reader elsewhere got the same', live === undefined || live === stored)
      expect('a repetition is the same', prefix === '' || repeated === stored)
      const rest = await (await survivor.resume(name, { lastEventId: lastIdOf(received) })).text()
      // A client that has more than was stored gets the frame alone.
      const isAlone = eventsOf(rest).length === 1 && failureOf(rest) === 'interrupted'
      expect('the rest follows', received.length > prefix.length ? isAlone : received + rest === stored)
    }
    expect('there is one turn', seen.turns({ query: call.query }) <= 1)
  }
  await victim.start()
  const outcomes = await outcomesOf(replicas, keyId)
  if (outcomes.length !== interrupted || outcomes.some((outcome) => outcome !== 'interrupted'))
    faults.push(`the ledger has ${outcomes.join()} for ${interrupted} calls`)
  return { interrupted, faults }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
