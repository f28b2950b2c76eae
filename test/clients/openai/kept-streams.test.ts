import { randomUUID } from 'node:crypto'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ChatOpenAI } from '@langchain/openai'
import { type LanguageModel, streamText } from 'ai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { collect } from '../../support/collect.ts'
import type { GatewayWithSandbox } from '../../support/gateway-with-sandbox.ts'
import { MODELS, PLATFORM_NAMES, startModels } from '../../support/models.ts'
import { langChain, openai } from '../support/responses-clients.ts'

// A process, because each package sends its header and reads its stream by its own means, over a real connection.

let system: GatewayWithSandbox

beforeAll(async () => {
  system = await startModels()
})
afterAll(() => system.remove())

const QUESTION = 'What is a gateway?'

interface Connection {
  readonly baseURL: string
  readonly apiKey: string
}

type Headers = Record<string, string>

/** Asks as a stream with these headers, and returns the text as the client has it. */
type Ask = (to: Connection, model: string, headers: Headers) => Promise<string>

const aiSdk = async (model: LanguageModel, headers: Headers) => {
  const { textStream, finishReason } = streamText({ model, prompt: QUESTION, headers, maxRetries: 0 })
  const text = (await collect(textStream)).join('')
  expect(await finishReason).toBe('stop')
  return text
}
const textOf = (chunks: readonly { readonly text: string }[]) => chunks.map(({ text }) => text).join('')

const CLIENTS: Readonly<Record<string, Ask>> = {
  async openai(to, model, headers) {
    const messages = [{ role: 'user' as const, content: QUESTION }]
    const stream = await openai(to).chat.completions.create({ model, messages, stream: true }, { headers })
    const chunks = await collect(stream)
    return chunks.map(({ choices: [choice] }) => choice?.delta.content ?? '').join('')
  },
  async 'openai, Responses'(to, model, headers) {
    const stream = openai(to).responses.stream({ model, input: QUESTION }, { headers })
    return (await stream.finalResponse()).output_text
  },
  'AI SDK': (to, model, headers) =>
    aiSdk(createOpenAICompatible({ name: 'trunkline', ...to })(model), headers),
  'AI SDK, Responses': (to, model, headers) => aiSdk(createOpenAI(to)(model), headers),
  async LangChain({ apiKey, baseURL }, model, defaultHeaders) {
    const configuration = { baseURL, defaultHeaders }
    const client = new ChatOpenAI({ model, apiKey, maxRetries: 0, configuration })
    return textOf(await collect(await client.stream(QUESTION)))
  },
  async 'LangChain, Responses'(to, model, headers) {
    return textOf(await collect(await langChain(to, model, headers).stream(QUESTION)))
  },
}

/** Events of a kept stream have a line with their number, which these clients were not written for. */
describe.each(Object.entries(CLIENTS))('%s', (_, ask) => {
  test.each(PLATFORM_NAMES)(
    '%s: reads a kept stream like any other, and its repetition too',
    async (platform) => {
      const to = { baseURL: `${system.gateway.url}/api/v1`, apiKey: system.key }
      const expected = await ask(to, MODELS[platform], {})
      expect(expected).not.toBe('')
      const headers = { 'Idempotency-Key': randomUUID() }
      const { seen } = system.sandbox.agents[platform]
      const before = seen.turns()
      expect(await ask(to, MODELS[platform], headers)).toBe(expected)
      expect(await ask(to, MODELS[platform], headers)).toBe(expected)
      expect(seen.turns()).toBe(before + 1)
    },
  )
})
