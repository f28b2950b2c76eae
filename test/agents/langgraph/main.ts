import { parseArgs } from 'node:util'
import { startLangGraphAgent } from './agent.ts'

/* Starts the agent by hand, until it is interrupted. */

const option = { type: 'string' } as const
const { values } = parseArgs({ options: { port: option, delay: option } })
const running = await startLangGraphAgent({
  port: Number(values.port ?? 0),
  delayMs: Number(values.delay ?? 15),
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void running.close())

const { baseUrl, apiKey } = running.agent
const request = {
  assistant_id: 'agent',
  input: { messages: [{ role: 'user', content: 'What is a gateway?' }] },
  stream_mode: ['messages-tuple', 'updates'],
  if_not_exists: 'create',
}
console.log(`base URL: ${baseUrl}
key: ${apiKey}
curl -N ${baseUrl}/threads/00000000-0000-4000-8000-000000000001/runs/stream -H 'Content-Type: application/json' -H 'x-api-key: ${apiKey}' -d '${JSON.stringify(request)}'`)
