import { type BaseMessage, type BaseMessageLike, HumanMessage } from '@langchain/core/messages'
import type { LangGraphRunnableConfig } from '@langchain/langgraph'
import { ChatOpenAI } from '@langchain/openai'
import { asRecord, type JsonRecord } from '@trunkline/sandbox/src/serving/narrow.ts'
import { partForModel } from './content.ts'
import type { ModelMetadata, ModelPart } from './model-part.ts'

interface Wanted {
  readonly part: ModelPart
  readonly messages: readonly BaseMessage[]
  readonly answers: readonly unknown[]
  readonly tools: Parameters<ChatOpenAI['bindTools']>[0]
}

/** Lets the model, which is in the process of the tests, answer. Its pieces stream while they come. */
export async function askModel(config: LangGraphRunnableConfig, wanted: Wanted): Promise<BaseMessage> {
  const { part, messages, answers, tools } = wanted
  const { configurable, context } = config
  const metadata: ModelMetadata = {
    run: String(configurable?.run_id),
    part,
    answers,
    variables: { ...variablesIn(asRecord(configurable)), ...asRecord(context) },
  }
  const model = modelWith(metadata)
  const asked = messages.map(messageForModel)
  return tools.length === 0 ? model.invoke(asked, config) : model.bindTools(tools).invoke(asked, config)
}

/** The model, which gets this with each of its calls. */
export function modelWith(metadata: ModelMetadata): ChatOpenAI {
  return new ChatOpenAI({
    model: 'sandbox',
    apiKey: 'none',
    configuration: { baseURL: process.env.SANDBOX_MODEL ?? '' },
    useResponsesApi: false,
    maxRetries: 0,
    modelKwargs: { metadata },
  })
}

/** What LangGraph itself puts beside the variables of the client. */
const NO_VARIABLES =
  /^(?:__.*|x-.*|user-agent|langgraph_.*|checkpoint_.*|run_id|thread_id|graph_id|assistant_id|user_id)$/

function variablesIn(configurable: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(configurable).filter(([name]) => !NO_VARIABLES.test(name)))
}

function messageForModel(message: BaseMessage): BaseMessageLike {
  const { content } = message
  if (message.getType() !== 'human' || typeof content === 'string') return message
  return new HumanMessage({ content: content.map(partForModel) as typeof content })
}
