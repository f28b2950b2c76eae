import type { Seen, SeenRequest } from '@trunkline/sandbox'
import { type Client, createClient, type Question, WAYS } from './client.ts'
import type { Reply } from './reply.ts'
import type { Stage } from './stage.ts'
import type { Subject } from './subjects.ts'

/** Where a guarantee is tried: a client of one subject, and what its emulator sees. */
export interface At extends Client {
  readonly subject: Subject
  readonly stage: Stage
  readonly seen: Seen
  /** The same question, asked in {@link WAYS}, each in a conversation of its own; asked once for all guarantees. */
  everyWay(query: string): Promise<readonly Reply[]>
  /** The reply to a question that several guarantees look at. */
  askOnce(question: Question): Promise<Reply>
  /** What the emulator was asked with this text in it, oldest first. */
  requestsWith(text: string): readonly SeenRequest[]
  /** Ends a check that does not concern the subject. */
  exempt(why: string): never
}

/** Throws where the gateway does not keep it. */
export type Check = (at: At) => Promise<void>

/** Where everything is tried of one subject; what its checks ask in common is kept here. */
export type Place = Omit<At, 'exempt'>

export function createPlace(stage: Stage, subject: Subject): Place {
  const client = createClient(stage, subject)
  const { seen } = stage.sandbox.agents[subject.platform]
  const asked = new Map<string, Promise<Reply>>()
  const askOnce = (question: Question) => {
    const key = JSON.stringify(question)
    const reply = asked.get(key) ?? client.ask(question)
    asked.set(key, reply)
    return reply
  }
  return {
    ...client,
    subject,
    stage,
    seen,
    askOnce,
    everyWay: (query) => Promise.all(WAYS.map((way) => askOnce({ ...way, query }))),
    requestsWith: (text) => seen.requests.filter(({ body }) => JSON.stringify(body).includes(text)),
  }
}
