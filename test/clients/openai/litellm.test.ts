import { completion } from 'litellm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { collect } from '../../support/collect.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../../support/gateway-with-sandbox.ts'

// A process, because the client sends its own requests, and chooses by the name of the model where they go.

let system: GatewayWithSandbox

beforeAll(async () => {
  system = await startGatewayWithSandbox({ agents: ({ dify }) => ({ 'gpt-helpdesk': { ...dify } }) })
})
afterAll(() => system.remove())

const options = (model: string) => ({
  model,
  baseUrl: `${system.gateway.url}/api/v1`,
  apiKey: system.key,
})
const ask = (model: string, ...contents: string[]) =>
  completion({
    ...options(model),
    messages: contents.map((content) => ({ role: 'user' as const, content })),
    stream: false,
  })

test('LiteLLM asks an agent whose id contains gpt-, which sees the messages before', async () => {
  const { choices } = await ask('gpt-helpdesk', 'My name is Ada.', 'What is my name?')
  expect(choices[0]?.message.content).toContain('Ada')
  expect(choices[0]?.finish_reason).toBe('stop')
})

test('LiteLLM streams the reply that it generates', async () => {
  const { choices } = await ask('gpt-helpdesk', 'What is a gateway?')
  const messages = [{ role: 'user' as const, content: 'What is a gateway?' }]
  const chunks = await collect(await completion({ ...options('gpt-helpdesk'), messages, stream: true }))
  expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(
    choices[0]?.message.content,
  )
})

test('LiteLLM throws a failure of the platform, with its reason', async () => {
  await expect(ask('gpt-helpdesk', 'sandbox:error=filtered Hello')).rejects.toMatchObject({
    status: 400,
    code: 'content_filtered',
  })
})

test('LiteLLM sends nothing to an agent of another name, and does not take the prefix openai/ away', async () => {
  await expect(ask('dify', 'Hello')).rejects.toThrow('Cannot find a handler')
  await expect(ask('openai/dify', 'Hello')).rejects.toMatchObject({ status: 404, code: 'model_not_found' })
})
