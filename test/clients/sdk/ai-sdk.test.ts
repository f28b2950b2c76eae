import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as route from '@trunkline/examples/ai-sdk/route.ts'
import { Trunkline } from '@trunkline/sdk'
import { parseJsonEventStream, readUIMessageStream, type UIMessage, uiMessageChunkSchema } from 'ai'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { HAS_BROWSER, launchBrowser } from '../../support/browser.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../../support/gateway-with-sandbox.ts'
import { AI_SDK_PAGES, servePages } from '../support/example-page.ts'

// A browser, because the page of the example keeps a conversation with the hook of the AI SDK, which renders into a page.

let system: GatewayWithSandbox
beforeAll(async () => {
  system = await startGatewayWithSandbox({
    agents: (_entries, { agents: { dify } }) => ({
      chatflow: { platform: 'dify', baseUrl: dify.baseUrl, apiKey: dify.keys.chatflow2026 },
    }),
  })
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await system?.remove()
})

function streamOf(query: string, agent = 'dify') {
  const client = new Trunkline({ baseURL: system.gateway.url, apiKey: system.key, maxRetries: 0 })
  return client.chat.stream({ agent, app_id: 'demo', query, detail: true })
}

/** Reads a response as the AI SDK does, and returns the last state of the message, with the errors of the stream. */
async function messageIn(response: Response) {
  const stream = parseJsonEventStream({
    stream: response.body ?? expect.unreachable('There is no body.'),
    schema: uiMessageChunkSchema,
  }).pipeThrough(
    new TransformStream({
      transform(part, controller) {
        if (!part.success) throw part.error
        controller.enqueue(part.value)
      },
    }),
  )
  const errors: unknown[] = []
  let message: UIMessage | undefined
  for await (const state of readUIMessageStream({ stream, onError: (error) => errors.push(error) }))
    message = state
  return { message, errors: errors.map(String) }
}
const partsOf = (message: UIMessage | undefined, type: string) =>
  (message?.parts ?? []).flatMap((part) => (part.type === type && 'text' in part ? [part.text] : []))

test.each([
  'route.ts',
  'chat.tsx',
  'message.ts',
  'chat-view.tsx',
  'pause-form.tsx',
  'kept-route.ts',
  'kept-chat.tsx',
])('docs/ai-sdk.md quotes %s as it is', async (file) => {
  const page = await readFile(join(AI_SDK_PAGES, '../../docs/ai-sdk.md'), 'utf8')
  expect(page).toContain(`// examples/ai-sdk/${file}\n${await readFile(join(AI_SDK_PAGES, file), 'utf8')}`)
})

describe('what the AI SDK reads', () => {
  test('is the text of the reply, with the id of the conversation', async () => {
    const response = streamOf('Hello').toUIMessageStreamResponse({ messageId: 'm1' })
    expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1')
    const { message, errors } = await messageIn(response)
    expect(errors).toEqual([])
    expect(message).toMatchObject({
      id: 'm1',
      role: 'assistant',
      metadata: { conversationId: expect.any(String) },
    })
    expect(partsOf(message, 'text').join('')).toBe(await streamOf('Hello').text())
  })

  test('is what the agent asks, as a part after the text', async () => {
    const stream = streamOf('sandbox:interactive', 'fastgpt')
    const { message, errors } = await messageIn(stream.toUIMessageStreamResponse())
    expect(errors).toEqual([])
    const pause = stream.pause ?? expect.unreachable('The agent asks nothing.')
    expect(message?.parts.at(-1)).toEqual({ type: 'data-pause', id: pause.id, data: pause })
    expect(pause.options).toEqual([
      expect.objectContaining({ title: '确认' }),
      expect.objectContaining({ title: '取消' }),
    ])
  })

  test('is a failure by the rule for visitors, after the text so far', async () => {
    const { message, errors } = await messageIn(
      streamOf('Hello sandbox:error-midstream').toUIMessageStreamResponse(),
    )
    expect(errors).toEqual(['Error: stream_failed: The stream failed.'])
    expect(partsOf(message, 'text').join('')).not.toBe('')
    const limited = await messageIn(streamOf('Hello sandbox:error=rate-limit').toUIMessageStreamResponse())
    expect(limited.errors).toEqual(['Error: agent_rate_limited: The stream failed.'])
  })

  test('is the text alone, which breaks where the agent fails', async () => {
    const response = streamOf('Hello').toTextStreamResponse()
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(await response.text()).toBe(await streamOf('Hello').text())
    const failed = streamOf('Hello sandbox:error-midstream').toTextStreamResponse()
    await expect(failed.text()).rejects.toThrow('stream_failed')
  })
})

describe.runIf(HAS_BROWSER)('the example page with useChat, in a browser', () => {
  let pages: Awaited<ReturnType<typeof servePages>>
  let browser: Browser
  let page: Page
  const answers = () => page.getByRole('article', { name: 'Agent' })

  beforeAll(async () => {
    vi.stubEnv('TRUNKLINE_URL', system.gateway.url)
    vi.stubEnv('TRUNKLINE_API_KEY', system.key)
    pages = await servePages('/api/chat', route)
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await pages?.close()
  })
  beforeEach(async () => {
    await page?.close()
    page = await browser.newPage()
    await page.goto(pages.url)
  })

  const send = async (query: string) => {
    await page.getByLabel('Message').fill(query)
    await page.getByRole('button', { name: 'Send' }).click()
  }

  test('shows the answer, and the agent remembers what was said', async () => {
    await send('My name is Ada.')
    await page.getByRole('button', { name: 'Send' }).waitFor()
    await answers().getByText('You asked: “My name is Ada.”').waitFor()
    const asked = page.waitForRequest('**/api/chat')
    await send('What is my name?')
    expect((await asked).postDataJSON()).toEqual({
      query: 'What is my name?',
      conversationId: expect.stringMatching(/\w/),
    })
    await answers().nth(1).getByText('Ada').waitFor()
  })

  describe('with an agent that asks', () => {
    beforeEach(() => {
      vi.stubEnv('TRUNKLINE_AGENT', 'fastgpt')
      vi.stubEnv('TRUNKLINE_APP', 'demo')
    })
    afterEach(() => {
      vi.stubEnv('TRUNKLINE_AGENT', undefined)
      vi.stubEnv('TRUNKLINE_APP', undefined)
    })
    const question = () => page.getByRole('form', { name: 'Question' })

    test('shows its options as buttons, and the one that is clicked reaches it', async () => {
      await send('Pay sandbox:interactive')
      const asked = page.waitForRequest('**/api/chat')
      await question().getByRole('button', { name: '确认' }).click()
      expect((await asked).postDataJSON()).toEqual({
        query: '',
        conversationId: expect.stringMatching(/\w/),
        answer: { pause: expect.any(String), option: '确认' },
      })
      await answers().nth(1).getByText('你选择了“确认”').waitFor()
      await page.getByRole('button', { name: 'Send' }).waitFor()
      expect(await question().count()).toBe(0)
    })

    test('takes a message as the answer as well', async () => {
      await send('Pay sandbox:interactive')
      await question().waitFor()
      await send('取消')
      await answers().nth(1).getByText('你选择了“取消”').waitFor()
    })

    test('shows its form, and sends what is filled in', async () => {
      vi.stubEnv('TRUNKLINE_AGENT', 'chatflow')
      await send('sandbox:interactive=form')
      await question().getByLabel('comment').fill('Two rooms.')
      await question().getByLabel('priority').selectOption('high')
      await question().getByLabel('attachment').fill('https://files.example.com/plan.txt')
      await question()
        .getByLabel('evidence')
        .fill('https://files.example.com/a.txt\nhttps://files.example.com/b.txt')
      const asked = page.waitForRequest('**/api/chat')
      await question().getByRole('button', { name: 'Approve' }).click()
      expect((await asked).postDataJSON().answer).toEqual({
        pause: expect.any(String),
        option: 'approve',
        fields: {
          comment: 'Two rooms.',
          priority: 'high',
          attachment: 'https://files.example.com/plan.txt',
          evidence: ['https://files.example.com/a.txt', 'https://files.example.com/b.txt'],
        },
      })
      await answers().nth(1).getByText('Two rooms.').waitFor()
    })

    test('gives the question up, and the conversation goes on', async () => {
      vi.stubEnv('TRUNKLINE_AGENT', 'chatflow')
      await send('Pay sandbox:interactive')
      await question().getByRole('button', { name: 'Never mind' }).click()
      await page.getByRole('button', { name: 'Send' }).waitFor()
      await send('Hello')
      await answers().getByText('Hello').waitFor()
      expect(await page.getByRole('alert').count()).toBe(0)
    })
  })

  test('shows a failure, and keeps the text so far', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    await send('Hello sandbox:error-midstream')
    expect(await page.getByRole('alert').textContent()).toBe(
      'The answer could not be given. Please try again.',
    )
    expect(await answers().textContent()).not.toBe('')
  })

  test('stops the agent when Stop is pressed', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    await send('Hello sandbox:silence')
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('button', { name: 'Send' }).waitFor()
    await expect
      .poll(async () => {
        const { body } = await system.api.call('GET', '/api/v1/calls?limit=1', { token: system.token })
        return body.data.items[0]?.outcome
      })
      .toBe('client_gone')
    // That a visitor left is nothing for the log.
    expect(log).not.toHaveBeenCalled()
  })
})
