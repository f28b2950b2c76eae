import createAzure, { isUnexpected } from '@azure-rest/ai-inference'
import { InferenceClient, InferenceClientProviderApiError } from '@huggingface/inference'
import { createOpenAILanguageModel } from 'typechat'
import { generateText, streamText } from 'xsai'
import { collect } from '../../support/collect.ts'
import type { Connection } from './responses-clients.ts'

/** A client of chat completions, as its users run it, but without retries. */
export interface CompletionsClient {
  readonly name: string
  /** Sends the questions as messages of one chat, and returns the answer to the last. Throws what the client reports as a failure. */
  ask(to: Connection, model: string, questions: readonly string[]): Promise<string>
  /** The pieces of the same answer, as they arrive; undefined for a client without streams. */
  readonly stream?: (
    to: Connection,
    model: string,
    questions: readonly string[],
  ) => Promise<readonly string[]>
  /** Where the caller finds the reason of a failure, if not in the message. */
  readonly reasonIn?: (error: Error) => string
  /** What a client reports of a refusal without its reason. */
  readonly tellsOnly?: string
}

export const COMPLETIONS_CLIENTS: readonly CompletionsClient[] = [
  {
    name: 'xsai',
    async ask(to, model, questions) {
      return (await generateText({ ...to, model, messages: messagesOf(questions) })).text ?? ''
    },
    async stream(to, model, questions) {
      const result = streamText({ ...to, model, messages: messagesOf(questions) })
      // Each of these rejects as well, and one that is not read is an unhandled rejection.
      const others = [result.messages, result.steps, result.totalUsage, result.usage]
      const [pieces] = await Promise.all([collect(result.textStream), ...others])
      return pieces
    },
  },
  {
    name: '@huggingface/inference',
    // The message has the text of the refusal, or says nothing.
    reasonIn: (error) =>
      error instanceof InferenceClientProviderApiError ? JSON.stringify(error.httpResponse.body) : '',
    async ask({ baseURL, apiKey }, model, questions) {
      const client = new InferenceClient(apiKey, { endpointUrl: baseURL })
      const { choices } = await client.chatCompletion({ model, messages: messagesOf(questions) })
      return choices[0]?.message.content ?? ''
    },
    async stream({ baseURL, apiKey }, model, questions) {
      const client = new InferenceClient(apiKey, { endpointUrl: baseURL })
      const chunks = client.chatCompletionStream({ model, messages: messagesOf(questions) })
      return (await collect(chunks)).map(({ choices }) => choices[0]?.delta.content ?? '')
    },
  },
  {
    name: '@azure-rest/ai-inference',
    async ask(to, model, questions) {
      const response = await azure(to)({ model, messages: messagesOf(questions) })
      // The caller of this package looks at the status, and finds the error in the body.
      if (isUnexpected(response)) throw new Error(JSON.stringify(response.body.error))
      return response.body.choices[0]?.message.content ?? ''
    },
    async stream(to, model, questions) {
      const body = { model, messages: messagesOf(questions), stream: true }
      const response = await azure(to)(body).asNodeStream()
      let text = ''
      for await (const bytes of response.body ?? []) text += bytes
      if (response.status !== '200') throw new Error(text)
      return text
        .split('\n\n')
        .filter((event) => event.startsWith('data: {'))
        .map((event) => JSON.parse(event.slice('data: '.length)).choices[0]?.delta.content ?? '')
    },
  },
  {
    name: 'typechat',
    tellsOnly: 'REST API error 400',
    async ask({ baseURL, apiKey }, model, questions) {
      const language = createOpenAILanguageModel(apiKey, model, `${baseURL}/chat/completions`)
      language.retryMaxAttempts = 0
      const result = await language.complete([...messagesOf(questions)])
      if (!result.success) throw new Error(result.message)
      return result.data
    },
  },
]

function messagesOf(questions: readonly string[]) {
  return questions.map((content) => ({ role: 'user' as const, content }))
}

function azure({ baseURL, apiKey }: Connection) {
  const options = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } }
  const route = createAzure(baseURL, { key: apiKey }, options).path('/chat/completions')
  // Its types know Azure's roles and options alone.
  return (body: object) => route.post({ body: body as never })
}
