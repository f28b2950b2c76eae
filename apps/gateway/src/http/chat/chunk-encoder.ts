import type { ChatEvent } from '#core/agents/events.ts'
import type { ChatHead } from '#core/calls/request/chat-head.ts'
import type { Problem } from '#core/errors/errors.ts'

/** Encodes events as the text of a stream. It has state, so each stream needs an encoder of its own. */
export interface ChunkEncoder {
  /** Returns the empty string if this client does not get the event. */
  encode(event: ChatEvent): string
  fail(problem: Problem): string
}

/** The JSON of a chunk up to its choices, which stays the same until the platform names another model. */
export function chunkHead(id: string, { created }: ChatHead, model: string): string {
  const fields = JSON.stringify({ id, object: 'chat.completion.chunk', created, model })
  return `data: ${fields.slice(0, -1)},"choices":[`
}
