import { createOpenAI } from '@ai-sdk/openai'
import { ChatOpenAI } from '@langchain/openai'
import { Agent, OpenAIProvider, Runner } from '@openai/agents'
import { generateText, type ModelMessage, streamText } from 'ai'
import OpenAI from 'openai'
import type { ResponseInputItem } from 'openai/resources/responses/responses'
import { collect } from '../../support/collect.ts'

/** Where a client finds the gateway, and as whom it calls. */
export interface Connection {
  /** The address that precedes `/responses`. */
  readonly baseURL: string
  readonly apiKey: string
}

/** A client of the Responses API, as its users run it, but without retries: one question is one request. */
export interface ResponsesClient {
  readonly name: string
  /** Returns the answer to a question in a conversation of its own. Throws what the client reports as a failure. */
  ask(to: Connection, model: string, question: string): Promise<string>
  /** Asks two questions in one conversation, in a way that is usual for the client, and returns both answers. */
  converse(to: Connection, model: string, id: string, questions: Turns): Promise<Turns>
}

export type Turns = readonly [first: string, second: string]

export const RESPONSES_CLIENTS: readonly ResponsesClient[] = [
  {
    name: 'openai, JSON, previous_response_id',
    async ask(to, model, input) {
      return (await openai(to).responses.create({ model, input })).output_text
    },
    async converse(to, model, _id, [first, second]) {
      const { responses } = openai(to)
      const one = await responses.create({ model, input: first })
      const two = await responses.create({ model, input: second, previous_response_id: one.id })
      return [one.output_text, two.output_text]
    },
  },
  {
    name: 'openai, stream, conversation',
    ask: (to, model, input) => deltasOf(to, { model, input }),
    async converse(to, model, conversation, [first, second]) {
      const one = await deltasOf(to, { model, input: first, conversation })
      return [one, await deltasOf(to, { model, input: second, conversation })]
    },
  },
  {
    name: 'openai, stream helper, X-Conversation-Id',
    async ask(to, model, input) {
      return (await openai(to).responses.stream({ model, input }).finalResponse()).output_text
    },
    async converse(to, model, id, [first, second]) {
      const { responses } = openai(to, { 'x-conversation-id': id })
      const one = await responses.stream({ model, input: [user(first)] }).finalResponse()
      // The types of output items are wider than those of input items, although every item may be sent back.
      const input = [user(first), ...(one.output as ResponseInputItem[]), user(second)]
      const two = await responses.stream({ model, input }).finalResponse()
      return [one.output_text, two.output_text]
    },
  },
  {
    name: 'AI SDK, generateText, its own messages',
    async ask(to, model, prompt) {
      return (await generateText({ model: createOpenAI(to)(model), prompt, maxRetries: 0 })).text
    },
    async converse(to, name, _id, [first, second]) {
      const model = createOpenAI(to)(name)
      const messages: ModelMessage[] = [{ role: 'user', content: first }]
      const one = await generateText({ model, messages, maxRetries: 0 })
      messages.push(...one.response.messages, { role: 'user', content: second })
      const two = await generateText({ model, messages, maxRetries: 0 })
      return [one.text, two.text]
    },
  },
  {
    name: 'AI SDK, streamText, conversation',
    ask: (to, model, prompt) => aiStream(to, model, prompt),
    async converse(to, model, conversation, [first, second]) {
      const one = await aiStream(to, model, first, conversation)
      return [one, await aiStream(to, model, second, conversation)]
    },
  },
  {
    name: 'OpenAI Agents SDK, conversationId',
    async ask(to, model, question) {
      return outputOf(await runner(to).run(agent(model), question))
    },
    async converse(to, model, conversationId, [first, second]) {
      const one = await runner(to).run(agent(model), first, { conversationId })
      const two = await runner(to).run(agent(model), second, { conversationId })
      return [outputOf(one), outputOf(two)]
    },
  },
  {
    name: 'OpenAI Agents SDK, stream, previousResponseId',
    async ask(to, model, question) {
      const run = await runner(to).run(agent(model), question, { stream: true })
      await run.completed
      return outputOf(run)
    },
    async converse(to, model, _id, [first, second]) {
      const one = await runner(to).run(agent(model), first, { stream: true })
      await one.completed
      const previousResponseId = one.lastResponseId ?? ''
      const two = await runner(to).run(agent(model), second, { stream: true, previousResponseId })
      await two.completed
      return [outputOf(one), outputOf(two)]
    },
  },
  {
    name: 'LangChain, invoke, previous_response_id',
    async ask(to, model, question) {
      return (await langChain(to, model).invoke(question)).text
    },
    async converse(to, name, _id, [first, second]) {
      const model = langChain(to, name)
      const one = await model.invoke(first)
      const previous = { previous_response_id: String(one.response_metadata.id) }
      return [one.text, (await model.invoke(second, previous)).text]
    },
  },
  {
    name: 'LangChain, stream, X-Conversation-Id',
    async ask(to, model, question) {
      return textOf(await collect(await langChain(to, model).stream(question)))
    },
    async converse(to, name, id, [first, second]) {
      const model = langChain(to, name, { 'x-conversation-id': id })
      const one = textOf(await collect(await model.stream(first)))
      const history = [
        ['user', first],
        ['assistant', one],
        ['user', second],
      ] as [string, string][]
      return [one, textOf(await collect(await model.stream(history)))]
    },
  },
]

export function openai(to: Connection, defaultHeaders: Record<string, string> = {}): OpenAI {
  return new OpenAI({ ...to, maxRetries: 0, defaultHeaders })
}

function user(content: string): ResponseInputItem {
  return { role: 'user', content }
}

async function deltasOf(
  to: Connection,
  body: { model: string; input: string; conversation?: string },
): Promise<string> {
  let text = ''
  for await (const event of await openai(to).responses.create({ ...body, stream: true })) {
    if (event.type === 'response.output_text.delta') text += event.delta
  }
  return text
}

async function aiStream(to: Connection, name: string, prompt: string, conversation?: string) {
  const { stream } = streamText({
    model: createOpenAI(to)(name),
    prompt,
    maxRetries: 0,
    // By default the SDK prints errors as well.
    onError: () => undefined,
    ...(conversation !== undefined && { providerOptions: { openai: { conversation } } }),
  })
  let text = ''
  for await (const part of stream) {
    if (part.type === 'text-delta') text += part.text
    if (part.type === 'error') throw part.error
  }
  return text
}

export function runner(to: Connection): Runner {
  const modelProvider = new OpenAIProvider({ openAIClient: openai(to) })
  return new Runner({ modelProvider, tracingDisabled: true })
}

function agent(model: string) {
  return new Agent({ name: 'Assistant', model })
}

function outputOf({ finalOutput }: { finalOutput?: string | undefined }): string {
  if (finalOutput === undefined) throw new Error('the run ended without an output')
  return finalOutput
}

export function langChain(
  to: Connection,
  model: string,
  defaultHeaders: Record<string, string> = {},
): ChatOpenAI {
  const configuration = { baseURL: to.baseURL, defaultHeaders }
  return new ChatOpenAI({ model, apiKey: to.apiKey, maxRetries: 0, useResponsesApi: true, configuration })
}

function textOf(chunks: readonly { readonly text: string }[]): string {
  return chunks.map(({ text }) => text).join('')
}
