import { parseArgs } from 'node:util'
import { startA2aAgent } from './agent.ts'

/* Starts the agent by hand, until it is interrupted. */

const option = { type: 'string' } as const
const { values } = parseArgs({ options: { port: option, delay: option } })
const running = await startA2aAgent({ port: Number(values.port ?? 0), delayMs: Number(values.delay ?? 15) })
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void running.close())

const { baseUrl, apiKey } = running.agent
const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'What is a gateway?' }] }
console.log(`base URL: ${baseUrl}
key: ${apiKey}
curl -N ${baseUrl}/rest/message:stream -H 'A2A-Version: 1.0' -H 'Content-Type: application/json' -H 'Authorization: Bearer ${apiKey}' -d '${JSON.stringify({ message })}'`)
