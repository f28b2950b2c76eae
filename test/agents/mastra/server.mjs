import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { createAdaptorServer } from '@hono/node-server'
import { Agent } from '@mastra/core/agent'
import { Mastra } from '@mastra/core/mastra'
import { createTool } from '@mastra/core/tools'
import { MastraServer } from '@mastra/hono'
import { LibSQLStore } from '@mastra/libsql'
import { Memory } from '@mastra/memory'
import { InMemoryTaskStore } from '@mastra/server/a2a/store'
import { Hono } from 'hono'
import { z } from 'zod'

/*
 * A Mastra server with one agent, which asks the model at `--model` and keeps its conversations in the folder `--data`. It prints its
 * address, and runs until it gets a signal.
 */

const option = /** @type {const} */ ({ type: 'string' })
const { values } = parseArgs({ options: { model: option, data: option, port: option } })
const { model: baseURL = '', data = '.', port = '0' } = values

// Mastra asks for the approval of this one itself, before it runs.
const refund = createTool({
  id: 'refund',
  description: 'Pays back what an order has cost.',
  inputSchema: z.object({ order: z.string() }),
  outputSchema: z.object({ refunded: z.string() }),
  requireApproval: true,
  execute: async ({ order }) => ({ refunded: order }),
})

// This one asks by itself, with a form of its own.
const ship = createTool({
  id: 'ship',
  description: 'Ships an order, once it is known how.',
  inputSchema: z.object({ order: z.string() }),
  outputSchema: z.object({ shipped: z.string() }),
  suspendSchema: z.object({ message: z.string() }),
  resumeSchema: z.object({ speed: z.enum(['slow', 'fast']), note: z.string().optional() }),
  execute: async ({ order }, { agent }) => {
    const { resumeData, suspend } = agent ?? {}
    if (resumeData === undefined) return suspend?.({ message: `How shall ${order} be shipped?` })
    return { shipped: `${order}, ${resumeData.speed}, ${resumeData.note ?? 'no note'}` }
  },
})

const storage = new LibSQLStore({ id: 'store', url: `file:${data}/mastra.db` })
const helper = new Agent({
  id: 'helper',
  name: 'Helper',
  instructions: 'Help.',
  model: createOpenAICompatible({ name: 'scripted', baseURL, includeUsage: true }).chatModel('scripted'),
  tools: { refund, ship },
  memory: new Memory({ storage, options: { lastMessages: 20 } }),
})
const app = new Hono()
const mastra = new Mastra({ agents: { helper }, storage, logger: false })
await new MastraServer({ app, mastra, taskStore: new InMemoryTaskStore() }).init()

const server = createAdaptorServer({ fetch: app.fetch })
await once(server.listen(Number(port), '127.0.0.1'), 'listening')
console.log(`listening on http://127.0.0.1:${server.address().port}`)
