import type { ReadChatStreamOptions } from '@trunkline/sdk/chat'
import {
  InvalidResponseError,
  readChatStream,
  StreamFailedError,
  TruncatedStreamError,
} from '@trunkline/sdk/chat'
import { APIError } from 'openai'
import { _iterSSEMessages, Stream } from 'openai/core/streaming'

/** What a parser made of a stream: what it returned, and how it ended. */
export interface Outcome {
  readonly chunks: unknown[]
  readonly end: 'complete' | 'malformed' | 'truncated' | { readonly failed: unknown }
}

/** What the SDK's reader makes of the pieces of a body. */
export async function outcomeOf(
  pieces: readonly Uint8Array[],
  options?: ReadChatStreamOptions,
): Promise<Outcome> {
  const chunks: unknown[] = []
  try {
    for await (const chunk of readChatStream(bodyOf(pieces), options)) chunks.push(chunk)
    return { chunks, end: 'complete' }
  } catch (error) {
    return { chunks, end: endOf(error) }
  }
}

/**
 * What the `openai` package's parser makes of the same pieces, corrected by three of the deliberate differences: an event
 * without data is skipped, an end without `[DONE]` or a finish reason is an error, and so is an event that the end has cut.
 */
export async function expectedOutcome(pieces: readonly Uint8Array[]): Promise<Outcome> {
  const messages = await messagesOf(pieces)
  const hasEmpty = messages.some(({ data }) => data === '')
  const read = await outcomeOfOpenAi(hasEmpty ? [encodeEvents(messages)] : pieces)
  if (read.end === 'malformed') {
    const whole = await outcomeOfOpenAi([encodeEvents(await terminatedMessages(pieces))])
    return whole.end === 'malformed' ? read : { ...read, end: 'truncated' }
  }
  const isDone = messages.some(({ data }) => data === '[DONE]')
  if (read.end !== 'complete' || isDone || read.chunks.some(hasFinishReason)) return read
  return { ...read, end: 'truncated' }
}

interface Message {
  readonly event: string | null
  readonly data: string
}

async function messagesOf(pieces: readonly Uint8Array[]): Promise<Message[]> {
  const messages: Message[] = []
  for await (const { event, data } of _iterSSEMessages(new Response(bodyOf(pieces)), new AbortController())) {
    messages.push({ event, data })
  }
  return messages
}

/** The messages that a blank line has ended: the package also gives one that only the end of the stream has ended. */
async function terminatedMessages(pieces: readonly Uint8Array[]): Promise<Message[]> {
  const endsInLine = !['\n', '\r'].includes(String.fromCharCode(Buffer.concat(pieces).at(-1) ?? 10))
  // A line without meaning becomes part of the last message, if that has not been ended, or else a message of its own.
  const more = new TextEncoder().encode(`${endsInLine ? '\n' : ''}event: last\n`)
  return (await messagesOf([...pieces, more])).slice(0, -1)
}

async function outcomeOfOpenAi(pieces: readonly Uint8Array[]): Promise<Outcome> {
  const chunks: unknown[] = []
  const stream = Stream.fromSSEResponse(new Response(bodyOf(pieces)), new AbortController())
  try {
    for await (const chunk of stream) chunks.push(chunk)
    return { chunks, end: 'complete' }
  } catch (error) {
    if (error instanceof SyntaxError) return { chunks, end: 'malformed' }
    if (error instanceof APIError) return { chunks, end: { failed: codeOf(error.error) } }
    throw error
  }
}

/** Writes messages that the package has parsed, without those that have no data. */
function encodeEvents(messages: readonly Message[]): Uint8Array {
  const text = messages
    .filter(({ data }) => data !== '')
    .map(({ event, data }) => {
      const name = event === null ? '' : `event: ${event}\n`
      return `${name}${data.replaceAll(/^/gm, 'data: ')}\n\n`
    })
  return new TextEncoder().encode(text.join(''))
}

export function bodyOf(pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  const left = pieces.values()
  return new ReadableStream({
    pull(controller) {
      const { done, value } = left.next()
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
  })
}

function endOf(error: unknown): Outcome['end'] {
  if (error instanceof TruncatedStreamError) return 'truncated'
  if (error instanceof StreamFailedError) return { failed: error.reason }
  if (error instanceof InvalidResponseError) {
    return error.message === 'The response is not an event stream.' ? 'truncated' : 'malformed'
  }
  throw error
}

function codeOf(error: unknown): unknown {
  const code: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined
  return typeof code === 'string' ? code : undefined
}

function hasFinishReason(chunk: unknown): boolean {
  const choices = typeof chunk === 'object' && chunk !== null ? Reflect.get(chunk, 'choices') : undefined
  return Array.isArray(choices) && choices.some((choice) => typeof choice?.finish_reason === 'string')
}
