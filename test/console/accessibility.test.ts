import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../support/browser.ts'
import { type ConsoleInBrowser, startConsole } from '../support/console-page.ts'

describe.runIf(HAS_BROWSER)('axe finds nothing in light and dark colours', () => {
  let console: ConsoleInBrowser
  let paths: readonly string[]

  beforeAll(async () => {
    console = await startConsole()
    const { api, token, key } = console.system
    for (const query of ['Hello', 'sandbox:error=rate-limit Hello']) {
      await (await api.chat(key, 'dify', { query })).text()
    }
    const idOf = async (list: string) =>
      (await api.call('GET', `/api/v1/${list}?limit=1`, { token })).body.data.items[0].id
    paths = [
      ...[
        '/',
        '/usage?range=7d&group=agent',
        '/calls',
        `/calls/${await idOf('calls')}`,
        '/keys',
        '/keys/new',
      ],
      ...[`/keys/${await idOf('api-keys')}`, '/users', '/agents', '/agents/dify', '/account', '/nowhere'],
    ]
  })
  afterAll(() => console?.remove())

  test.each(['en-US', 'zh-CN'])('on any page in %s', async (locale) => {
    const { page, logIn, violations, problems } = await console.visit('/', { locale })
    await page.locator('input[autocomplete=username]').waitFor()
    const found: Record<string, string[]> = { login: await violations() }
    await logIn()
    await page.getByRole('navigation').first().waitFor()
    for (const path of paths) {
      await page.goto(`${console.system.gateway.url}/console${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      found[path] = await violations()
    }
    expect(Object.entries(found).filter(([, list]) => list.length > 0)).toEqual([])
    expect(problems).toEqual([])
  })
})
