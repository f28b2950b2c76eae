import { AbortError, Trunkline } from '@trunkline/sdk'

/*
 * A route handler as Next.js and others take them (`app/api/chat/route.ts`): it holds the API key, so that the page needs none,
 * and passes the stream on. The page reads the response with `readChatStream` of `@trunkline/sdk/chat`, which throws what the
 * visitor may be told of a failure: never what is wrong with the key.
 */

export async function POST(request: Request): Promise<Response> {
  const { query, chat_id = '' } = (await request.json()) as { query: string; chat_id?: string }
  if (query.trim() === '') return Response.json({ reason: 'invalid_request' }, { status: 400 })
  // TRUNKLINE_URL and TRUNKLINE_API_KEY of the environment say where and who.
  const client = new Trunkline()
  const params = { agent: 'fastgpt', app_id: 'app-1', chat_id, query }
  // A visitor who leaves stops the agent.
  const stream = client.chat.stream(params, { signal: request.signal })
  return stream.toResponse({
    onError: (error) => {
      // That a visitor left is no failure.
      if (!(error instanceof AbortError)) console.error(error)
      return 'The answer could not be given. Please try again.'
    },
  })
}
