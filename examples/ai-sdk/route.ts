import { AbortError, Trunkline } from '@trunkline/sdk'
import type { Sent } from './message.ts'

/*
 * The route of the page (in Next.js: `app/api/chat/route.ts`). It holds the API key, so that the page needs none, and passes the
 * agent's answer on in the form that `useChat` reads. TRUNKLINE_URL and TRUNKLINE_API_KEY of the environment say where and who.
 */

export async function POST(request: Request): Promise<Response> {
  const { query, conversationId = '', answer } = (await request.json()) as Sent
  const client = new Trunkline({ agent: process.env.TRUNKLINE_AGENT ?? 'dify' })
  const ids = {
    app_id: process.env.TRUNKLINE_APP ?? '',
    chat_id: conversationId,
    conversation_id: conversationId,
  }
  const params = { ...ids, query, answer, detail: true }
  // A visitor who leaves, or presses Stop, stops the agent.
  const stream = client.chat.stream(params, { signal: request.signal })
  return stream.toUIMessageStreamResponse({
    onError: (error) => {
      // That a visitor left is no failure.
      if (!(error instanceof AbortError)) console.error(error)
      return 'The answer could not be given. Please try again.'
    },
  })
}
