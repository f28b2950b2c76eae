import type { Dialect } from '@trunkline/gateway/test/agents/dialect.test-support.ts'
import type { Seen, SeenRequest } from '@trunkline/sandbox'
import { type Client, createClient, type Question, WAYS } from './client.ts'
import { emulatorOf, type GatewayWithEmulators } from './gateway-with-emulators.ts'
import type { Reply } from './reply.ts'

/** The context of a check: a client of one dialect, and the requests that its emulator receives. */
export interface Trial extends Client {
  readonly dialect: Dialect
  readonly setup: GatewayWithEmulators
  readonly seen: Seen
  /** Replies to one query in each of {@link WAYS}, in separate conversations. Checks share the calls. */
  everyWay(query: string): Promise<readonly Reply[]>
  /** The reply to a question. Checks that pass equal questions share one call. */
  askOnce(question: Question): Promise<Reply>
  /** Requests to the emulator that contain this text, oldest first. */
  requestsWith(text: string): readonly SeenRequest[]
  /** Skips a check that does not apply to the dialect. */
  exempt(why: string): never
}

/** Checks one guarantee. Throws if the gateway does not meet it. */
export type Check = (trial: Trial) => Promise<void>

/** The context that all checks of a dialect share, including the replies to common questions. */
export type DialectTrial = Omit<Trial, 'exempt'>

export function createTrial(setup: GatewayWithEmulators, dialect: Dialect): DialectTrial {
  const client = createClient(setup, dialect)
  const { seen } = emulatorOf(setup.emulators, dialect)
  const replies = new Map<string, Promise<Reply>>()
  const askOnce = (question: Question) => {
    const key = JSON.stringify(question)
    const reply = replies.get(key) ?? client.ask(question)
    replies.set(key, reply)
    return reply
  }
  return {
    ...client,
    dialect,
    setup,
    seen,
    askOnce,
    everyWay: (query) => Promise.all(WAYS.map((way) => askOnce({ ...way, query }))),
    requestsWith: (text) => seen.requests.filter(({ body }) => JSON.stringify(body).includes(text)),
  }
}
