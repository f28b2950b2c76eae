import { ChatOpenAI } from '@langchain/openai'
import { Agent as OpenAIAgent } from '@openai/agents'
import { Agent as StrandsAgent, tool as strandsTool } from '@strands-agents/sdk'
import { OpenAIModel } from '@strands-agents/sdk/models/openai'
import { createAgent, tool as langChainTool } from 'langchain'
import OpenAI from 'openai'
import { collect } from '../../support/collect.ts'
import { WEATHER } from '../../support/models.ts'
import { type Connection, runner } from './responses-clients.ts'

/** Where to call, and by which `fetch`, which shows the headers of responses that the package hides. */
export interface Watched extends Connection {
  readonly fetch: typeof fetch
}

/** A package whose agents offer their tools with every request. */
export interface AgentClient {
  readonly name: string
  /** Asks an agent that has one tool, and returns its answer. Throws what the package reports as a failure. */
  run(to: Watched, model: string, question: string): Promise<string>
  /** The pieces of the same answer, as they arrive. */
  stream(to: Watched, model: string, question: string): Promise<readonly string[]>
  /** The answer to a question for which the model calls the tool. */
  readonly answerWithTool: RegExp
}

const { name, description, parameters } = WEATHER
const RESULT = '21 degrees'
const answerWithTool = /^The tool answered: .*21 degrees/

export const AGENT_CLIENTS: readonly AgentClient[] = [
  {
    name: 'LangChain, createAgent',
    answerWithTool,
    async run(to, model, question) {
      const { messages } = await langChainAgent(to, model).invoke({ messages: [['user', question]] })
      return messages.at(-1)?.text ?? ''
    },
    async stream(to, model, question) {
      const messages: [string, string][] = [['user', question]]
      const chunks = await langChainAgent(to, model).stream({ messages }, { streamMode: 'messages' })
      return (await collect(chunks)).map(([chunk]) => chunk.text)
    },
  },
  {
    name: 'OpenAI Agents SDK, handoffs',
    // The tool is the handoff, whose result names the agent that goes on.
    answerWithTool: /^The tool answered: .*Billing/,
    async run(to, model, question) {
      return `${(await runner(to).run(triage(model), question)).finalOutput}`
    },
    async stream(to, model, question) {
      const run = await runner(to).run(triage(model), question, { stream: true })
      const pieces = await collect(run.toTextStream())
      await run.completed
      return pieces
    },
  },
  {
    name: 'Strands',
    answerWithTool,
    async run(to, model, question) {
      return textOf(await strands(to, model).invoke(question))
    },
    async stream(to, model, question) {
      const pieces: string[] = []
      for await (const event of strands(to, model).stream(question)) {
        if (event.type !== 'modelStreamUpdateEvent') continue
        const { event: update } = event
        if (update.type === 'modelContentBlockDeltaEvent' && update.delta.type === 'textDelta')
          pieces.push(update.delta.text)
      }
      return pieces
    },
  },
  {
    name: 'CopilotKit',
    // The page has the tool, so that the answer of the runtime is its call.
    answerWithTool: /^weather.*sandbox/,
    run: async (to, model, question) => (await copilot(to, model, question)).join(''),
    stream: copilot,
  },
]

function langChainAgent({ baseURL, apiKey, fetch }: Watched, model: string) {
  const llm = new ChatOpenAI({ model, apiKey, maxRetries: 0, configuration: { baseURL, fetch } })
  const weather = langChainTool(() => RESULT, { name, description, schema: parameters })
  return createAgent({ model: llm, tools: [weather] })
}

function triage(model: string) {
  const billing = new OpenAIAgent({ name: 'Billing', model })
  return new OpenAIAgent({ name: 'Triage', model, handoffs: [billing] })
}

function strands({ baseURL, apiKey, fetch }: Watched, modelId: string) {
  const clientConfig = { baseURL, fetch, maxRetries: 0 }
  const model = new OpenAIModel({ api: 'chat', modelId, apiKey, clientConfig })
  const weather = strandsTool({ name, description, inputSchema: parameters, callback: () => RESULT })
  return new StrandsAgent({ model, tools: [weather], printer: false, retryStrategy: null })
}

function textOf({ lastMessage }: Awaited<ReturnType<StrandsAgent['invoke']>>): string {
  return lastMessage.content.map((block) => (block.type === 'textBlock' ? block.text : '')).join('')
}

/** Sends what a page with CopilotKit sends, and reads the events of its protocol, AG-UI. */
async function copilot(
  { baseURL, apiKey, fetch }: Watched,
  model: string,
  question: string,
): Promise<string[]> {
  // Loaded here, because it asks the environment while it is loaded whether it may report to its makers.
  const { CopilotRuntime, copilotRuntimeNextJSAppRouterEndpoint, OpenAIAdapter } = await import(
    '@copilotkit/runtime'
  )
  const openai = new OpenAI({ baseURL, apiKey, fetch, maxRetries: 0 })
  const { handleRequest } = copilotRuntimeNextJSAppRouterEndpoint({
    runtime: new CopilotRuntime(),
    serviceAdapter: new OpenAIAdapter({ openai, model }),
    endpoint: '/api/copilotkit',
  })
  const body = {
    ...{
      threadId: crypto.randomUUID(),
      runId: crypto.randomUUID(),
      state: {},
      context: [],
      forwardedProps: {},
    },
    messages: [{ id: crypto.randomUUID(), role: 'user', content: question }],
    tools: [{ name, description, parameters }],
  }
  const request = new Request('http://page.test/api/copilotkit', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ method: 'agent/run', params: { agentId: 'default' }, body }),
  })
  const text = await (await handleRequest(request)).text()
  const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(`${data}`))
  const failure = events.find(({ type }) => type === 'RUN_ERROR')
  if (failure !== undefined) throw new Error(failure.message)
  return events.flatMap(({ type, toolCallName, delta }) => {
    if (type === 'TOOL_CALL_START') return [toolCallName]
    return type === 'TEXT_MESSAGE_CONTENT' || type === 'TEXT_MESSAGE_CHUNK' || type === 'TOOL_CALL_ARGS'
      ? [delta]
      : []
  })
}
