import type { Dialect } from '@trunkline/gateway/src/core/agents/dialect.test-support.ts'
import type { Seen, SeenRequest } from '@trunkline/sandbox'
import { type Client, createClient, type Question, WAYS } from './client.ts'
import { emulatorOf, type GatewayWithEmulators } from './gateway-with-emulators.ts'
import type { Reply } from './reply.ts'

/** Where a guarantee is tried: a client of one dialect, and what its emulator sees. */
export interface Trial extends Client {
  readonly dialect: Dialect
  readonly setup: GatewayWithEmulators
  readonly seen: Seen
  /** The same question, asked in {@link WAYS}, each in a conversation of its own; asked once for all guarantees. */
  everyWay(query: string): Promise<readonly Reply[]>
  /** The reply to a question that several guarantees look at. */
  askOnce(question: Question): Promise<Reply>
  /** What the emulator was asked with this text in it, oldest first. */
  requestsWith(text: string): readonly SeenRequest[]
  /** Ends a check that does not concern the dialect. */
  exempt(why: string): never
}

/** Throws where the gateway does not keep it. */
export type Check = (trial: Trial) => Promise<void>

/** Where everything is tried of one dialect; what its checks ask in common is kept here. */
export type DialectTrial = Omit<Trial, 'exempt'>

export function createTrial(setup: GatewayWithEmulators, dialect: Dialect): DialectTrial {
  const client = createClient(setup, dialect)
  const { seen } = emulatorOf(setup.emulators, dialect)
  const asked = new Map<string, Promise<Reply>>()
  const askOnce = (question: Question) => {
    const key = JSON.stringify(question)
    const reply = asked.get(key) ?? client.ask(question)
    asked.set(key, reply)
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
