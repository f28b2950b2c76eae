import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { Page, Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../support/browser.ts'
import { type ConsoleInBrowser, startConsole } from '../support/console-page.ts'

// A browser, because what is counted are the requests and the bytes of script that a page loads, and when it follows live usage.
// A gateway of its own, because it must be empty at first, and its limits are small.

/** Few reports at a time, so that the test can use them up, and a short wait. */
const LIMIT = { points: 12, windowSeconds: 8 }
const SCRIPT_BYTES_MAX = 250_000

describe.runIf(HAS_BROWSER)('the overview of the console', () => {
  let console: ConsoleInBrowser

  beforeAll(async () => {
    console = await startConsole({ settings: { limits: { reports: LIMIT } } })
  })
  afterAll(() => console?.remove())

  const isSubscription = (request: Request) =>
    request.postData()?.includes('subscription UsageUpdated') === true
  const isReport = (request: Request) => /query Overview(Before)?\(/.test(request.postData() ?? '')
  const number = (page: Page, name: string) =>
    page
      .locator('main dl > div', { has: page.getByRole('term').filter({ hasText: name }) })
      .locator('dd')
      .first()
  const ask = async () => {
    const response = await console.system.api.chat(console.system.key, 'dify')
    expect(response.status).toBe(200)
    await response.text()
  }

  /** As an administrator of its own, since limits count by user and would have the reports of the tests before. */
  const logInAnew = async (logIn: (username: string, password: string) => Promise<void>) => {
    const name = `admin-${randomUUID().slice(0, 8)}`
    const { api, token } = console.system
    const { username, password } = await api.createUser(token, name, { role: 'admin' })
    await logIn(username, password)
  }

  /** Notes when the first chart is begun. Whoever looks for it afterwards sees it when the page already loads what comes next. */
  const watchDrawing = (page: Page) =>
    page.evaluate(() => {
      const { prototype } = HTMLCanvasElement
      const { getContext } = prototype
      prototype.getContext = function noted(this: HTMLCanvasElement, ...args: unknown[]) {
        document.documentElement.dataset.drawnMs ??= String(performance.now())
        return Reflect.apply(getContext, this, args)
      } as typeof getContext
    })

  /** All scripts that the page loads until its first chart is drawn, gzipped. */
  const scriptBytes = async (page: Page) => {
    const drawn = await page.waitForFunction(() => document.documentElement.dataset.drawnMs)
    const urls = await page.evaluate(
      (drawnMs) =>
        performance
          .getEntriesByType('resource')
          .filter(({ startTime }) => startTime < Number(drawnMs))
          .map(({ name }) => name),
      await drawn.jsonValue(),
    )
    const sizes = urls
      .filter((url) => url.endsWith('.js'))
      .map(async (url) => gzipSync(await (await fetch(url)).bytes()).length)
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  }

  test('an empty installation shows three steps, of which the last is done by the first call', async () => {
    const { page, logIn, problems } = await console.visit('/')
    const followed = page.waitForRequest(isSubscription)
    await logIn()
    await page.getByRole('heading', { name: 'The first call in three steps' }).waitFor()
    expect(await page.getByRole('link', { name: 'Make a key' }).getAttribute('href')).toContain(
      '/keys?new=true',
    )
    await page.getByRole('link', { name: 'Ask an agent' }).waitFor()

    await (await followed).response()
    await ask()
    await page.getByText('The first call has been counted.').waitFor()
    await page.getByRole('button', { name: 'Show the numbers' }).click()
    await page.getByRole('img', { name: 'Calls over time' }).locator('canvas').waitFor()
    await expect.poll(() => number(page, 'Calls').textContent()).toBe('1')
    expect(problems).toEqual([])
  })

  test('opens with at most 4 reports and 250 kB of script, and counts further calls by itself', async () => {
    await ask()
    const { page, logIn } = await console.visit('/')
    let reports = 0
    page.on('request', (request) => {
      if (isReport(request) || isSubscription(request)) reports++
    })
    const followed = page.waitForRequest(isSubscription)
    await watchDrawing(page)
    await logInAnew(logIn)
    const bytes = await scriptBytes(page)
    expect(bytes).toBeGreaterThan(100_000)
    expect(bytes).toBeLessThanOrEqual(SCRIPT_BYTES_MAX)

    await followed
    await page.getByText('Live', { exact: true }).waitFor()
    expect(reports).toBeLessThanOrEqual(4)
    const before = Number(await number(page, 'Calls').textContent())
    await ask()
    // Sooner than the report is read again.
    await expect.poll(() => number(page, 'Calls').textContent(), { timeout: 10_000 }).toBe(String(before + 1))

    await page.getByText('The numbers as a table').first().click()
    await page.getByRole('table', { name: 'Calls over time, as a table' }).getByRole('row').nth(1).waitFor()
    const agents = page.getByRole('table', { name: 'The agents and their calls' })
    await agents.getByRole('row', { name: /Dify Available/ }).waitFor()
  })

  test('leads from its numbers to their records, and to two reports in one click', async () => {
    const { api, token } = console.system
    const { username, password, id } = await api.createUser(token, 'olivia', { max_api_calls: 1 })
    const { full_key } = await api.createKey(token, { name: 'one call', owner_id: id })
    await (await api.chat(full_key, 'dify')).text()
    const { page, logIn } = await console.visit('/?range=7d')
    await logIn(username, password)
    const main = page.getByRole('main')
    await page.getByText('The quota is used up.').waitFor()
    const [value, max] = await page
      .getByRole('progressbar')
      .evaluate((bar: HTMLProgressElement) => [bar.value, bar.max])
    expect(value).toBe(max)
    // A percentile is known to about 5 %, so it has two digits.
    expect(await number(page, 'Duration').textContent()).toMatch(/^≈ \d{1,2}0* ms$|^≈ \d{1,2}(\.\d)? sec$/)
    for (const [name, path, given] of [
      ['Calls', '/calls', {}],
      ['Failures', '/calls', { outcome: 'FAILED' }],
      ['Duration', '/usage', { show: 'duration' }],
    ] as const) {
      await number(page, name).getByRole('link').click()
      await page.waitForURL(`**/console${path}?**`)
      const search = Object.fromEntries(new URL(page.url()).searchParams)
      expect(search).toMatchObject({ ...given, from: expect.any(String), to: expect.any(String) })
      await page.goBack()
    }
    await main.getByRole('row', { name: /^Dify/ }).getByRole('link', { name: '1', exact: true }).click()
    await page.waitForURL(/\/calls\?.*agent=dify/)
    await page.goBack()
    await main.getByRole('link', { name: 'This week against last week' }).click()
    await page.waitForURL(/range=this_week/)
    // Only administrators see who used most.
    await page.goBack()
    await page.getByText('Live', { exact: true }).waitFor()
    expect(await main.getByRole('link', { name: 'Who used most last month' }).count()).toBe(0)
  })

  test('follows live usage only while the tab is visible, and reads reports where it cannot', async () => {
    await ask()
    const { page, logIn } = await console.visit('/')
    await logInAnew(logIn)
    await page.getByText('Live', { exact: true }).waitFor()
    const show = (state: string) =>
      page.evaluate((visibilityState) => {
        Object.defineProperty(document, 'visibilityState', { value: visibilityState, configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))
      }, state)

    const ended = page.waitForEvent('requestfailed', isSubscription)
    await show('hidden')
    await ended
    const resumed = page.waitForRequest(isSubscription)
    await show('visible')
    // What the gateway answers decides, not that it was asked.
    await (await resumed).response()
    expect(await page.getByText('Live numbers are interrupted.').count()).toBe(0)

    await show('hidden')
    await page.route('**/graphql', (route) =>
      isSubscription(route.request()) ? route.abort() : route.continue(),
    )
    await show('visible')
    await page.getByText('Live numbers are interrupted.').waitFor()
    await number(page, 'Calls').waitFor()
  })

  test('waits as it is told when reports are used up, says so, and goes on by itself', async () => {
    await ask()
    const { page, logIn } = await console.visit('/')
    await logInAnew(logIn)
    await page.getByText('Live', { exact: true }).waitFor()
    const token = await page.evaluate(
      () =>
        (JSON.parse(sessionStorage.getItem('trunkline.session') ?? '') as { accessToken: string })
          .accessToken,
    )
    let status = 200
    while (status === 200) ({ status } = await console.system.api.call('GET', '/api/v1/usage', { token }))
    expect(status).toBe(429)
    await page.getByRole('button', { name: '7 days' }).click()
    await page.getByText('These are too many reads in a short time.').waitFor()
    expect(page.url()).toContain('range=7d')
    // What was read before stays, and the seconds are counted down.
    await number(page, 'Calls').waitFor()
    const seconds = async () => Number(/\d+/.exec((await page.getByRole('timer').textContent()) ?? '')?.[0])
    const first = await seconds()
    await expect.poll(seconds).toBeLessThan(first)
    await page.getByText('These are too many reads in a short time.').waitFor({ state: 'detached' })
    const walker = page.getByRole('slider', { name: /^Calls over time/ })
    await expect.poll(() => walker.getAttribute('max')).toBe('6')
    // Nobody called in the seven days before.
    expect(await page.getByText(/^Compared with/).count()).toBe(0)
  })

  test('a user sees its own calls, and days of UTC where its time zone has no whole hours', async () => {
    const { api, token } = console.system
    const { username, password } = await api.createUser(token, 'erin', { role: 'user' })
    const { page, logIn } = await console.visit('/', { timezoneId: 'Asia/Kolkata', locale: 'zh-CN' })
    await logIn(username, password)
    await page.getByText('您自己的密钥的调用').waitFor()
    await page.getByText(/此浏览器的时区（Asia\/(Kolkata|Calcutta)）/).waitFor()
    await page.getByRole('heading', { name: '三步完成首次调用' }).waitFor()
    expect(await page.getByRole('link', { name: '创建密钥' }).count()).toBe(0)
    await page.getByRole('link', { name: '用量' }).click()
    await page.getByText(/此浏览器的时区（Asia\/(Kolkata|Calcutta)）/).waitFor()
  })
})
