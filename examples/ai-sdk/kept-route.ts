import { Trunkline, TrunklineError } from '@trunkline/sdk'
import type { Sent } from './message.ts'

/*
 * The route of the page whose answers survive a reload (in Next.js: `app/api/kept-chat/route.ts`). The gateway goes on with a kept
 * call while nobody reads, so that the route needs no storage: it gives the call the name of its question, and asks for it by that.
 */

interface Question extends Sent {
  readonly id: string
}

export async function POST(request: Request): Promise<Response> {
  const { id, query, conversationId = '', answer } = (await request.json()) as Question
  const ids = {
    app_id: process.env.TRUNKLINE_APP ?? '',
    chat_id: conversationId,
    conversation_id: conversationId,
  }
  const params = { ...ids, query, answer, detail: true }
  // No `signal`: a visitor who leaves may come back.
  const stream = client().chat.stream({ ...params, idempotencyKey: nameOf(id) })
  return stream.toUIMessageStreamResponse({ messageId: answerTo(id), onError })
}

/** The answer from its beginning, while it is written and for a day after. */
export async function GET(request: Request): Promise<Response> {
  const id = idIn(request)
  // What `useChat` understands as: there is nothing to resume.
  if (id === '') return new Response(null, { status: 204 })
  const stream = client().calls.resume({ idempotencyKey: nameOf(id) })
  return stream.toUIMessageStreamResponse({ messageId: answerTo(id), onError })
}

export async function DELETE(request: Request): Promise<Response> {
  await client().calls.stop({ idempotencyKey: nameOf(idIn(request)) })
  return new Response(null, { status: 204 })
}

const client = () => new Trunkline({ agent: process.env.TRUNKLINE_AGENT ?? 'dify' })

const idIn = (request: Request) => new URL(request.url).searchParams.get('id') ?? ''

/**
 * The beginning keeps visitors away from the other calls of the API key. Where they log in, put the id of the visitor into it, and
 * nobody can read the answers of another.
 */
const nameOf = (id: string) => `page:${id}`

/** The same for both streams, so that the page replaces what it has of the answer. */
const answerTo = (id: string) => `answer-${id}`

function onError(error: unknown): string {
  if (error instanceof TrunklineError && error.reason === 'stopped') return 'The answer was stopped.'
  console.error(error)
  return 'The answer could not be given. Please try again.'
}
