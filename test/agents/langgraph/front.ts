import { once } from 'node:events'
import { IncomingMessage } from 'node:http'
import type { Faults } from '@trunkline/sandbox/src/replies/faults.ts'
import type { Answer } from '@trunkline/sandbox/src/serving/answer.ts'
import type { EmulatorDeps } from '@trunkline/sandbox/src/serving/emulator.ts'
import type { RequestContext } from '@trunkline/sandbox/src/serving/http-server.ts'
import type { Holds } from './holds.ts'
import type { Model } from './model.ts'
import { playProxyFault } from './proxy-faults.ts'
import { refuse } from './refusals.ts'
import { relay } from './relay.ts'
import { cancelledBy, type RunRequest, readRunRequest, runIn } from './run-request.ts'
import { StoredRuns } from './stored-runs.ts'
import type { Upstream, UpstreamRequest } from './upstream.ts'
import { readCommands } from './words.ts'

export interface FrontOptions {
  readonly deps: EmulatorDeps
  readonly upstream: Upstream
  readonly model: Model
  readonly holds: Holds
  /** The key with which commands are played. What comes without it is left to LangGraph, which refuses it. */
  readonly key: string
}

/** What stands in front of LangGraph's server: passes requests and replies on, notes the runs, and plays faults of connections. */
export class Front {
  readonly #options: FrontOptions
  readonly #runs: StoredRuns

  constructor(options: FrontOptions) {
    const { deps, upstream } = options
    this.#options = options
    this.#runs = new StoredRuns(deps.runs, upstream)
  }

  async handle(context: RequestContext): Promise<Answer | undefined> {
    const { method, path, headers, body, response } = context
    const { key } = this.#options
    const left = new AbortController()
    // Also when all has been sent.
    response.once('close', () => left.abort())
    try {
      const hasKey = headers['x-api-key'] === key
      const asked = hasKey ? readRunRequest(method, path, body) : undefined
      if (asked !== undefined) return await this.#run(context, asked, left.signal)
      const cancelled = hasKey ? cancelledBy(method, path) : undefined
      await (cancelled === undefined
        ? relay(await this.#send(context, left.signal), response)
        : this.#cancel(context, cancelled, left.signal))
    } catch (error) {
      if (!left.signal.aborted) throw error
    }
    return undefined
  }

  async #run(context: RequestContext, asked: RunRequest, left: AbortSignal): Promise<Answer | undefined> {
    const { thread, answer } = asked
    const query = answer === undefined ? asked.query : (this.#runs.paused(thread)?.query ?? '')
    const { faults } = readCommands(query)
    // The faults before the first byte have struck before the question that is answered.
    const isAnswer = answer !== undefined
    const refusal = isAnswer ? undefined : faults.error
    const reply = await (refusal === undefined
      ? this.#send(context, left)
      : refuse(refusal, requestOf(context, left), asked, this.#options.upstream))
    if (!(reply instanceof IncomingMessage)) return reply
    const run = runIn(reply.headers['content-location'])
    if (run === undefined) await relay(reply, context.response)
    else return this.#follow(context, { ...asked, query, run, reply, left, faults, isAnswer })
    return undefined
  }

  /** Passes on the reply to a run that has begun. */
  async #follow({ path, response }: RequestContext, begun: BegunRun): Promise<Answer | undefined> {
    const { holds, model } = this.#options
    const { run: id, thread, query, answer, reply, left, faults, isAnswer } = begun
    const ids = { run: id, thread }
    // The head comes when the run is stored; LangGraph works on it, and tells its id in the stream, when a worker is free.
    await firstBytes(reply, left)
    const run = answer === undefined ? this.#runs.begin(ids, query) : this.#runs.resume(ids, answer.value)
    const end = async () => run && this.#runs.follow(ids, run)
    response.once('close', () => {
      holds.endSoon(id)
      void end()
    })
    const played = isAnswer ? undefined : await playProxyFault(faults, reply, response, left)
    if (played !== undefined || left.aborted) return played
    const isInBackground = path.endsWith('/runs')
    await relay(reply, response, isInBackground ? undefined : end, {
      faults,
      middle: () => model.calls.findLast((call) => call.run === id)?.middle,
    })
    return undefined
  }

  async #cancel(context: RequestContext, id: string, left: AbortSignal): Promise<void> {
    const { path, body, response } = context
    // LangGraph may have ended it already, because the client has left.
    const run = this.#runs.find(id)
    this.#options.deps.seen.stop({ runId: run?.id, path, body })
    const reply = await this.#send(context, left)
    const isTaken = (reply.statusCode ?? 500) < 300
    // A run that waits for an answer goes on waiting.
    if (isTaken && run?.state === 'running') run.halt('stopped')
    await relay(reply, response)
  }

  #send(context: RequestContext, left: AbortSignal): Promise<IncomingMessage> {
    return this.#options.upstream.send(requestOf(context, left))
  }
}

/** Resolves when a reply has begun or ended, or when its client has left. */
async function firstBytes(reply: IncomingMessage, left: AbortSignal): Promise<void> {
  if (reply.readableLength > 0 || reply.readableEnded || left.aborted) return
  const waiting = ['readable', 'end', 'close'].map((event) => once(reply, event, { signal: left }))
  for (const each of waiting) each.catch(() => undefined)
  await Promise.race(waiting).catch(() => undefined)
}

/** A run, and LangGraph's reply to the request that has begun it. */
interface BegunRun extends RunRequest {
  readonly run: string
  readonly reply: IncomingMessage
  readonly left: AbortSignal
  readonly faults: Faults
  readonly isAnswer: boolean
}

function requestOf(context: RequestContext, signal: AbortSignal): UpstreamRequest {
  const { method, path, query, headers, body } = context
  const search = query.size > 0 ? `?${query}` : ''
  const hasBody = Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined
  return { method, path: path + search, headers, signal, ...(hasBody && { body }) }
}
