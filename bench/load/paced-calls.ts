import { setTimeout as pause } from 'node:timers/promises'
import { Agent, request } from 'undici'

/** Calls that begin at a steady pace, whatever becomes of those before. It is passed to other processes. */
export interface PacedLoad {
  readonly origin: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly perSecond: number
  readonly lastsMs: number
  /** Whether clients that have no answer at the end leave; otherwise they are waited for. */
  readonly leaves: boolean
}

export interface Answered {
  readonly status: number
  /** The reason of a refusal, or the code of an error of the connection, which has the status 0. */
  readonly reason: string | undefined
  readonly ms: number
}

/** Until this many connections are in use, no call waits for another. */
const CONNECTIONS = 2_000
const NEVER = 0

/** Returns all answers. What has been left by its client has none. */
export async function paceCalls(load: PacedLoad): Promise<Answered[]> {
  const dispatcher = new Agent({ connections: CONNECTIONS, headersTimeout: NEVER, bodyTimeout: NEVER })
  const end = new AbortController()
  const answers: Answered[] = []
  const calls: Promise<unknown>[] = []
  const startedMs = performance.now()
  const total = Math.round((load.perSecond * load.lastsMs) / 1_000)
  while (calls.length < total) {
    // A late timer does not make the load smaller.
    const due = Math.min(total, ((performance.now() - startedMs) * load.perSecond) / 1_000 + 1)
    while (calls.length < due) {
      const answered = askOnce(load, dispatcher, end.signal)
      calls.push(answered.then((answer) => answer !== undefined && answers.push(answer)))
    }
    await pause(1)
  }
  await pause(Math.max(0, load.lastsMs - (performance.now() - startedMs)))
  if (load.leaves) end.abort()
  await Promise.all(calls)
  await dispatcher.destroy()
  return answers
}

/** Makes one call. Undefined if its client left. */
async function askOnce(
  { origin, path, headers, body }: PacedLoad,
  dispatcher: Agent,
  signal: AbortSignal,
): Promise<Answered | undefined> {
  const startedMs = performance.now()
  const since = () => performance.now() - startedMs
  try {
    const given = { method: 'POST', headers, body, dispatcher, signal } as const
    const { statusCode: status, body: reply } = await request(origin + path, given)
    return { status, reason: reasonIn(await reply.text()), ms: since() }
  } catch (error) {
    if (signal.aborted) return undefined
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    return { status: 0, reason: code, ms: since() }
  }
}

/** Of a refusal, also of one of the routes that speak as OpenAI does. */
function reasonIn(text: string): string | undefined {
  return /"(?:reason|code)":"(\w+)"/.exec(text)?.[1]
}
