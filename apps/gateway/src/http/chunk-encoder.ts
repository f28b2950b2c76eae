import type { ChatEvent } from '#core/agents/events.ts'
import type { Chat } from '#core/chat/service.ts'
import type { Problem } from '#core/errors.ts'

/** Turns events into the bytes of a stream. One encoder a stream. */
export interface ChunkEncoder {
  /** Empty where the event is not for this client. */
  encode(event: ChatEvent): string
  fail(problem: Problem): string
}

/** A chunk up to its choices: the same from one to the next, until the platform names another model. */
export function chunkHead(id: string, { created }: Chat, model: string): string {
  const fields = JSON.stringify({ id, object: 'chat.completion.chunk', created, model })
  return `data: ${fields.slice(0, -1)},"choices":[`
}
