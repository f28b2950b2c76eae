import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { createServer, defaultClientConditions, type ViteDevServer } from 'vite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER, launchBrowser } from '../../support/browser.ts'
import { freePort } from '../../support/free-port.ts'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../../support/gateway-with-sandbox.ts'

// A browser, because only its rendering shows whether the caches of Apollo and urql agree with what the gateway sends.

const ROOT = join(import.meta.dirname, '../../../examples/react')
const KEYS_A_PAGE = 10

describe.runIf(HAS_BROWSER)('the example page in a browser', () => {
  let system: GatewayWithSandbox
  let server: ViteDevServer
  let browser: Browser

  beforeAll(async () => {
    // The gateway is started again at the same address.
    system = await startGatewayWithSandbox({ env: { PORT: String(await freePort()) } })
    for (const agent of ['fastgpt', 'fastgpt', 'dify']) {
      await (await system.api.chat(system.key, agent, { chat_id: '' })).text()
    }
    server = await createServer({
      root: ROOT,
      configFile: false,
      logLevel: 'silent',
      resolve: { conditions: ['@trunkline/source', ...defaultClientConditions] },
      server: {
        host: '127.0.0.1',
        port: 0,
        proxy: { '/graphql': system.gateway.url, '/api': system.gateway.url },
      },
    })
    await server.listen()
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
    await system?.remove()
  })

  describe.each(['apollo', 'urql'])('with %s', (client) => {
    let page: Page
    let user: Awaited<ReturnType<GatewayWithSandbox['api']['createUser']>>
    const sent = new Map<string, number>()
    const warnings: string[] = []

    beforeAll(async () => {
      user = await system.api.createUser(system.token, `${client}-user`, { role: 'premium' })
      page = await browser.newPage()
      page.on('request', (request) => {
        const { operationName, query = '' } = (request.postDataJSON() ?? {}) as Record<string, string>
        const name = operationName ?? /^\w+ (\w+)/.exec(query)?.[1]
        if (name !== undefined) sent.set(name, (sent.get(name) ?? 0) + 1)
      })
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) warnings.push(message.text())
      })
      await page.goto(`${server.resolvedUrls?.local[0]}${client}.html`)
    })

    const logIn = async (username: string, password: string) => {
      await page.getByLabel('Username').fill(username)
      await page.getByLabel('Password').fill(password)
      await page.getByRole('button', { name: 'Log in' }).click()
    }
    const create = async (name: string) => {
      await page.getByLabel('Name', { exact: true }).fill(name)
      await page.getByRole('button', { name: 'Create' }).click()
      await page.getByRole('listitem').filter({ hasText: name }).waitFor()
    }
    const send = async (query: string) => {
      await page.getByLabel('Message').fill(query)
      await page.getByRole('button', { name: 'Send' }).click()
    }
    const callsOf = async () => {
      const { body } = await system.api.call('GET', `/api/v1/calls?owner_id=${user.id}`, {
        token: system.token,
      })
      return body.data.items as {
        outcome: string
        reason: string | null
        paused: boolean
        answers: string | null
      }[]
    }

    test('says why a login fails', async () => {
      await logIn(user.username, 'another password')
      await page.getByText('The username or the password is wrong.').waitFor()
    })

    test('shows an empty list of keys, and a new key in it', async () => {
      await logIn(user.username, user.password)
      await page.getByRole('heading', { name: 'API keys (0)' }).waitFor()
      await create('first')
      await page.getByRole('heading', { name: 'API keys (1)' }).waitFor()
      expect(await page.getByRole('listitem').allInnerTexts()).toEqual([
        expect.stringMatching(/^first tl_\w{9} active/),
      ])
    })

    test('a revoked key changes in its row', async () => {
      await create('second')
      await page.getByRole('button', { name: 'Revoke first' }).click()
      await page
        .getByRole('listitem')
        .filter({ hasText: /first tl_\w+ not active/ })
        .waitFor()
      expect(await page.getByRole('listitem').count()).toBe(2)
    })

    test('a page of keys leads to the next and back, and a new key leads to the first', async () => {
      const token = await system.api.login(user.username, user.password)
      for (let made = 2; made < KEYS_A_PAGE + 1; made += 1) {
        await system.api.createKey(token, { name: `more ${made}` })
      }
      await create('last')
      await page.getByRole('heading', { name: `API keys (${KEYS_A_PAGE + 2})` }).waitFor()
      await page.getByRole('button', { name: 'Next keys' }).click()
      await page.getByRole('listitem').filter({ hasText: 'first' }).waitFor()
      expect(await page.getByRole('listitem').count()).toBe(2)
      await page.getByRole('button', { name: 'Previous keys' }).click()
      await page.getByRole('listitem').filter({ hasText: 'last' }).waitFor()
      await page.getByRole('button', { name: 'Next keys' }).click()
      await create('the newest')
      expect(await page.getByRole('listitem').count()).toBe(KEYS_A_PAGE)
    })

    test('a chat is written to its end, and is one call', async () => {
      await send('Hello')
      await page.getByText('The reply is complete.').waitFor()
      await expect.poll(callsOf).toMatchObject([{ outcome: 'done' }])
    })

    test('the agent remembers the messages before', async () => {
      await send('My name is Ada.')
      await page.getByText('The reply is complete.').waitFor()
      await send('What is my name?')
      await page.getByText(/You asked: “What is my name\?”.*Ada/s).waitFor()
    })

    test('a question of the agent has a button for each option, which answers it', async () => {
      await send('Book the room sandbox:interactive')
      await page.getByRole('button', { name: '确认' }).click()
      await page.getByText('The reply is complete.').waitFor()
      await expect
        .poll(callsOf)
        .toMatchObject([{ answers: expect.any(String) }, { paused: true }, {}, {}, {}])
      expect(await page.getByRole('button', { name: '确认' }).count()).toBe(0)
    })

    test('a chat that breaks off shows its text and the reason, and is not sent again', async () => {
      await send('Hello sandbox:truncate')
      await page.getByText('agent_truncated').waitFor()
      expect(await page.locator('[aria-live]').textContent()).not.toBe('')
      await expect
        .poll(callsOf)
        .toMatchObject([{ reason: 'agent_truncated' }, ...Array(5).fill({ outcome: 'done' })])
    })

    test('shows the usage of a month and that of today', async () => {
      const now = new Date().toISOString()
      await page.getByLabel('Month').fill(now.slice(0, 7))
      await page.getByRole('row', { name: 'fastgpt 6 1' }).waitFor()
      await expect.poll(() => page.getByRole('status').first().textContent()).toBe('6')
    })

    test('each operation was sent once for each reason to send it, and the caches had nothing to say', () => {
      expect(Object.fromEntries(sent)).toEqual({
        Login: 2,
        // The first list, four new keys and the pages beside them.
        ApiKeys: expect.toSatisfy((count: number) => count <= 9),
        CreateApiKey: 4,
        RevokeApiKey: 1,
        UsageByAgent: expect.toSatisfy((count: number) => count <= 4),
        UsageUpdated: expect.toSatisfy((count: number) => count <= 2),
        Chat: 6,
      })
      expect(warnings).toEqual([])
    })

    // Starting a process takes long on a busy machine.
    test('the usage of today goes on after the gateway was started again, and the chat is not repeated', {
      timeout: 120_000,
    }, async () => {
      const chats = sent.get('Chat')
      await system.gateway.stop()
      await system.gateway.start()
      await (await system.api.chat(await keyOf(user.username, user.password), 'dify', { chat_id: '' })).text()
      await expect.poll(() => page.getByRole('status').first().textContent()).toBe('7')
      expect(sent.get('Chat')).toBe(chats)
    })

    test('a token that is refused leads to the login', async () => {
      await system.api.call('PATCH', `/api/v1/users/${user.id}`, {
        token: system.token,
        body: { status: 'suspended' },
      })
      await page.getByLabel('Username').waitFor()
    })
  })

  describe.each(['sdk', 'graphql'])('a page of chats with %s', (client) => {
    test('lists chats, goes on with one, and names, rates and deletes it', async () => {
      const user = await system.api.createUser(system.token, `${client}-chats`, { role: 'premium' })
      const apiKey = await keyOf(user.username, user.password)
      const page = await browser.newPage()
      const problems: string[] = []
      page.on('pageerror', (error) => problems.push(error.message))
      await page.goto(`${server.resolvedUrls?.local[0]}chats.html?with=${client}`)
      await page.getByLabel('API key').fill(apiKey)
      await page.getByRole('button', { name: 'Show the chats' }).click()
      const chats = page.getByRole('navigation').getByRole('listitem')
      const answers = page.getByRole('article', { name: 'Agent' })
      const ask = async (query: string) => {
        await page.getByLabel('Message').fill(query)
        await page.getByRole('button', { name: 'Send' }).click()
        await page.getByRole('article', { name: 'You' }).filter({ hasText: query }).waitFor()
        await page.locator('[aria-busy=false]').waitFor()
      }
      await ask('My name is Ada.')
      await ask('What is my name?')
      await answers.filter({ hasText: 'Ada' }).last().waitFor()

      page.once('dialog', (dialog) => dialog.accept('Names'))
      // A new chat is in the list once the gateway has settled its first call.
      await expect
        .poll(async () => {
          const { body } = await system.api.call('GET', '/api/v1/conversations', { token: apiKey })
          return body.data.items.length
        })
        .toBe(1)
      await page.reload()
      await page.getByLabel('API key').fill(apiKey)
      await page.getByRole('button', { name: 'Show the chats' }).click()
      await chats.first().getByRole('button').click()
      await expect.poll(() => answers.count()).toBe(2)
      await page.getByRole('button', { name: 'Rename' }).click()
      await chats.filter({ hasText: 'Names' }).waitFor()
      const good = answers.last().getByRole('button', { name: 'Good answer' })
      await good.click()
      await page.locator('[aria-busy=false]').waitFor()
      await chats.first().getByRole('button').click()
      await expect.poll(() => good.getAttribute('aria-pressed')).toBe('true')
      await ask('And again, what is my name?')
      await expect.poll(() => answers.last().textContent()).toContain('Ada')

      await page.getByRole('button', { name: 'Delete' }).click()
      await expect.poll(() => chats.count()).toBe(0)
      expect(await page.getByRole('article').count()).toBe(0)
      expect(problems).toEqual([])
    })
  })

  async function keyOf(username: string, password: string): Promise<string> {
    const token = await system.api.login(username, password)
    return (await system.api.createKey(token)).full_key
  }
})
