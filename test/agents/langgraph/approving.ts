import { type AgentMiddleware, createAgent, humanInTheLoopMiddleware } from 'langchain'
import { modelWith } from './model-client.ts'
import { weather } from './weather.ts'

/* An agent as LangChain makes it, whose tool a person must approve. The model always calls the tool first. */

const model = modelWith({ run: 'approving', part: 'answer', answers: [], variables: {} })

// Its types are not those that createAgent takes where optional properties are exact.
const approvalOf = humanInTheLoopMiddleware as unknown as (options: object) => AgentMiddleware

export const { graph } = createAgent({
  model,
  tools: [weather],
  middleware: [approvalOf({ interruptOn: { weather: true } })],
})
