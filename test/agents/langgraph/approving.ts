import { ChatOpenAI } from '@langchain/openai'
import { type AgentMiddleware, createAgent, humanInTheLoopMiddleware } from 'langchain'
import type { ModelMetadata } from './model-part.ts'
import { weather } from './weather.ts'

/* An agent as LangChain makes it, whose tool a person must approve. The model always calls the tool first. */

const metadata: ModelMetadata = { run: 'approving', part: 'answer', answers: [], variables: {} }
const model = new ChatOpenAI({
  model: 'sandbox',
  apiKey: 'none',
  configuration: { baseURL: process.env.SANDBOX_MODEL ?? '' },
  useResponsesApi: false,
  maxRetries: 0,
  modelKwargs: { metadata },
})

// Its types are not those that createAgent takes where optional properties are exact.
const approvalOf = humanInTheLoopMiddleware as unknown as (options: object) => AgentMiddleware

export const { graph } = createAgent({
  model,
  tools: [weather],
  middleware: [approvalOf({ interruptOn: { weather: true } })],
})
