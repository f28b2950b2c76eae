import { AbortError, Trunkline } from '@trunkline/sdk'
import type { Sent } from './message.ts'

/*
 * The route of the page without the AI SDK (in Next.js: `app/api/plain-chat/route.ts`). It holds the API key, and passes on the
 * stream as the gateway sends it; a question of the agent is in its last chunk.
 */

export async function POST(request: Request): Promise<Response> {
  const { query, conversationId = '', answer } = (await request.json()) as Sent
  const client = new Trunkline({ agent: process.env.TRUNKLINE_AGENT ?? 'dify' })
  const ids = {
    app_id: process.env.TRUNKLINE_APP ?? '',
    chat_id: conversationId,
    conversation_id: conversationId,
  }
  const stream = client.chat.stream({ ...ids, query, answer }, { signal: request.signal })
  return stream.toResponse({
    onError: (error) => {
      // That a visitor left is no failure.
      if (!(error instanceof AbortError)) console.error(error)
      return 'The answer could not be given. Please try again.'
    },
  })
}
