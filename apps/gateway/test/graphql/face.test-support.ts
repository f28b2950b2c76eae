import type { OutgoingHttpHeaders } from 'node:http'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import pg from 'pg'
import { vi } from 'vitest'
import { createLogger } from '#ops/logger.ts'
import { createServer } from '#server/create-server.ts'
import {
  type CallerName,
  type Callers,
  type CallersOptions,
  openCallers,
} from '../authorization/callers.test-support.ts'

/** The GraphQL face of a gateway with one caller of every kind. */
export interface Face extends Callers {
  readonly app: FastifyInstance
  /** Sends a document as this caller. */
  query<Data = Any>(as: CallerName, document: string, variables?: object): Promise<Result<Data>>
  /** Reads from the REST API as this caller. */
  get(as: CallerName, path: string): Promise<LightMyRequestResponse>
  /** The number of statements that the work needs: the fewest of three runs, since the process sends some of its own. */
  statementsOf(work: () => Promise<unknown>): Promise<number>
  /** The points of rate limits that all queries have taken, as the headers of their responses say. */
  pointsTaken(): number
  /** The statements themselves. */
  statements(work: () => Promise<unknown>): Promise<string[]>
}

// biome-ignore lint/suspicious/noExplicitAny: results have the shape of their documents, which tests state in their expectations.
export type Any = any

export interface Result<Data> {
  readonly data: Data
  readonly errors?: readonly { message: string; path?: unknown[]; extensions: Record<string, unknown> }[]
}

export async function openFace(options: CallersOptions = {}): Promise<Face> {
  const { log = createLogger('silent') } = options
  const callers = await openCallers({ ...options, log })
  const app = await createServer(callers.config, callers.gateway, log)
  const headersOf = (as: CallerName) => {
    const { credential } = callers.callers[as]
    return credential === '' ? {} : { authorization: `Bearer ${credential}` }
  }
  const windows = new Map<string, { readonly rest: number; readonly endsMs: number }>()
  let taken = 0
  const countPoints = ({ ratelimit, 'ratelimit-policy': policy }: OutgoingHttpHeaders) => {
    const [, name = '', rest, seconds] = /"([^"]+)";r=(\d+);t=(\d+)/.exec(String(ratelimit)) ?? []
    if (rest === undefined) return
    const known = windows.get(name)
    const now = { rest: Number(rest), endsMs: Date.now() + Number(seconds) * 1_000 }
    windows.set(name, now)
    if (known === undefined) return
    // The seconds are rounded up, so that only a later end is that of another window, which begins with all of its points.
    const isAnother = now.endsMs - known.endsMs > 2_000
    const before = isAnother ? Number(/;q=(\d+)/.exec(String(policy))?.[1]) : known.rest
    taken += Math.max(0, before - now.rest)
  }
  return {
    ...callers,
    app,
    async query(as, document, variables = {}) {
      const payload = { query: document, variables }
      const response = await app.inject({ method: 'POST', url: '/graphql', headers: headersOf(as), payload })
      countPoints(response.headers)
      return response.json()
    },
    get: (as, path) => app.inject({ method: 'GET', url: path, headers: headersOf(as) }),
    pointsTaken: () => taken,
    statements,
    async statementsOf(work) {
      const counts: number[] = []
      for (let run = 0; run < 3; run += 1) counts.push((await statements(work)).length)
      return Math.min(...counts)
    },
    async close() {
      await app.close()
      await callers.close()
    },
  }
}

async function statements(work: () => Promise<unknown>): Promise<string[]> {
  const queries = vi.spyOn(pg.Client.prototype, 'query')
  try {
    await work()
    const texts = queries.mock.calls.map(([query]) => textOf(query))
    // In the meantime the process renews its lease, reads whether it is too old and what signs tokens, and sets its clock.
    return texts.filter(
      (text) =>
        !/\b(?:instances|min_build|signing_keys|extract\(epoch FROM clock_timestamp\(\)\))/.test(text),
    )
  } finally {
    queries.mockRestore()
  }
}

function textOf(query: unknown): string {
  return typeof query === 'object' && query !== null && 'text' in query ? String(query.text) : String(query)
}
