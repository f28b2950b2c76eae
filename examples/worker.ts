import { createInterface } from 'node:readline'
import { Trunkline, TrunklineError } from '@trunkline/sdk'

/*
 * A worker that reads questions from stdin, one a line, and prints an answer to each as a line of JSON:
 *
 *   TRUNKLINE_URL=http://127.0.0.1:8080 TRUNKLINE_API_KEY=tl_… node worker.ts < questions.txt
 *
 * The client finds both in the environment.
 */

const client = new Trunkline({
  agent: process.env.TRUNKLINE_AGENT ?? 'fastgpt',
  // Limits are waited for: the gateway says how long.
  maxRetries: 5,
})

// Ctrl-C ends the question that is being answered, and stops the agent.
const leaving = new AbortController()
process.once('SIGINT', () => leaving.abort())

for await (const query of createInterface({ input: process.stdin })) {
  if (leaving.signal.aborted) break
  if (query.trim() === '') continue
  console.log(JSON.stringify({ query, ...(await answer(query)) }))
}

async function answer(query: string): Promise<object> {
  try {
    const stream = client.chat.stream({ app_id: 'app-1', query }, { signal: leaving.signal })
    return { answer: await stream.text() }
  } catch (error) {
    if (!(error instanceof TrunklineError)) throw error
    // One question that fails does not stop the others; the id finds the request in the log of the gateway.
    return { error: error.reason ?? error.name, requestId: error.requestId }
  }
}
