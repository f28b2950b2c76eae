import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../support/browser.ts'
import { type ConsoleInBrowser, startConsole } from '../support/console-page.ts'

const CALLS = { dify: 3, coze: 2, fastgpt: 1 }
/** A week, so that the calls are in the range also when the test runs across midnight. */
const WEEK = 'range=7d&by=hour&zone=Asia/Shanghai'

/** Within this time, because the machine may be busy. */

describe.runIf(HAS_BROWSER)('the usage of the console', () => {
  let console: ConsoleInBrowser
  let second: { id: string; full_key: string }

  beforeAll(async () => {
    console = await startConsole()
    const { api, token, key } = console.system
    second = await api.createKey(token, { name: 'second key' })
    for (const [agent, count] of Object.entries(CALLS)) {
      for (let call = 0; call < count; call++) {
        const response = await api.chat(agent === 'coze' ? second.full_key : key, agent)
        expect(response.status).toBe(200)
        await response.text()
      }
    }
  })
  afterAll(() => console?.remove())

  /** The first two cells of each row: a name and its calls. */
  const rows = (page: Page) =>
    page
      .getByRole('table', { name: 'The totals of each group' })
      .locator('tbody tr, tfoot tr')
      .evaluateAll((rows) =>
        rows.map((row) => [...row.querySelectorAll('th, td')].slice(0, 2).map((cell) => cell.textContent)),
      )
  const chart = (page: Page) => page.getByRole('img', { name: /^Calls, / })

  test('the chart, the tables and the CSV file say what the report says, and the address keeps it', async () => {
    const { page, logIn, problems, violations } = await console.visit(`/usage?${WEEK}&group=agent`)
    await logIn()
    await chart(page).locator('canvas').waitFor()
    const byAgent = [
      ['Dify', '3'],
      ['Coze', '2'],
      ['FastGPT', '1'],
      ['All together', '6'],
    ]
    await expect.poll(() => rows(page)).toEqual(byAgent)
    expect(await violations()).toEqual([])

    await page.getByRole('button', { name: 'Over time' }).click()
    const latest = page
      .getByRole('table', { name: /^Calls, / })
      .locator('tbody tr')
      .first()
    await expect
      .poll(() => latest.locator('td').allTextContents())
      .toEqual(expect.arrayContaining(['3', '2', '1', '6']))
    await page.getByRole('button', { name: 'Outcome' }).click()
    await page.getByRole('button', { name: 'Totals' }).click()
    await page
      .getByRole('table', { name: 'The totals of each group' })
      .getByRole('row', { name: /^Dify · Done 3 0/ })
      .waitFor()

    const downloaded = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Save as CSV' }).click()
    const file = await readFile(await (await downloaded).path(), 'utf8')
    expect(file).toContain('dify')
    expect(file.split('\n')[0]).toMatch(/agent,outcome/)

    // Another person who opens the address sees the same.
    const { page: other, logIn: logInToo } = await console.visit(page.url().split('/console')[1] ?? '')
    await logInToo()
    await other
      .getByRole('table', { name: 'The totals of each group' })
      .getByRole('row', { name: /^Dify · Done 3 0/ })
      .waitFor()
    expect(other.url()).toBe(page.url())
    expect(problems).toEqual([])
  })

  test('the chart has the colours of the page, also after they have changed', async () => {
    const { page, logIn } = await console.visit(`/usage?${WEEK}`)
    await logIn()
    const canvas = chart(page).locator('canvas')
    await canvas.waitFor()
    const hasColour = () =>
      canvas.evaluate((element: HTMLCanvasElement) => {
        const probe = document.body.appendChild(document.createElement('i'))
        probe.style.color = 'var(--series-1)'
        const wanted = getComputedStyle(probe).color
        probe.remove()
        const { data = [] } =
          element.getContext('2d')?.getImageData(0, 0, element.width, element.height) ?? {}
        const pixels = Array.from({ length: data.length / 4 }, (_, place) =>
          data.slice(place * 4, place * 4 + 3),
        )
        return pixels.some((pixel) => `rgb(${pixel.join(', ')})` === wanted)
      })
    await expect.poll(hasColour).toBe(true)
    await page.getByRole('button', { name: 'Colours' }).click()
    await page.getByRole('menuitemradio', { name: 'Dark' }).click()
    await expect.poll(hasColour).toBe(true)
  })

  test('filters, metrics and percentiles change the report', async () => {
    const { page, logIn, violations } = await console.visit(`/usage?${WEEK}&group=key`)
    await logIn()
    await expect
      .poll(() => rows(page))
      .toEqual([
        ['test', '4'],
        ['second key', '2'],
        ['All together', '6'],
      ])
    await page.getByLabel('Key', { exact: true }).selectOption(second.id)
    await expect
      .poll(() => rows(page))
      .toEqual([
        ['second key', '2'],
        ['All together', '2'],
      ])
    await page.getByRole('button', { name: 'Key', exact: true }).click()
    await page.getByRole('button', { name: 'Duration', exact: true }).click()
    await page.getByRole('button', { name: 'Over time' }).click()
    const header = page.getByRole('table', { name: /^Duration, / }).getByRole('columnheader')
    await expect.poll(() => header.allTextContents()).toEqual(['Hour', 'p50', 'p95', 'p99'])
    expect(await violations()).toEqual([])
    await page.getByLabel('Agent', { exact: true }).selectOption('dify')
    await page.getByText('No calls in this range').waitFor()
    expect(new URL(page.url()).searchParams.get('key')).toBe(second.id)
  })

  test('dragging over the chart zooms in, and the way back leads out again', async () => {
    const { page, logIn, problems } = await console.visit(`/usage?${WEEK}`)
    await logIn()
    await chart(page).locator('canvas').waitFor()
    const box = await chart(page).locator('.u-over').boundingBox()
    if (box === null) throw new Error('the chart has no place')
    const middle = box.y + box.height / 2
    // Until the pointer rests on the chart of before again, nothing of the new one arrives.
    const pointed = Promise.withResolvers<void>()
    await page.route('**/graphql', async (route) => {
      await pointed.promise
      await route.fallback()
    })
    await page.mouse.move(box.x + box.width * 0.9, middle)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width - 2, middle, { steps: 4 })
    await page.mouse.up()
    await page.waitForURL(/from=/)
    const { searchParams } = new URL(page.url())
    const hours =
      (Date.parse(searchParams.get('to') ?? '') - Date.parse(searchParams.get('from') ?? '')) / 3_600_000
    expect(hours).toBeGreaterThan(1)
    expect(hours).toBeLessThan(40)
    await page.mouse.move(box.x + box.width - 20, middle)
    pointed.resolve()
    await expect.poll(() => rows(page)).toEqual([['All together', '6']])
    await page.goBack()
    await page.waitForURL(/range=7d/)

    await page.getByLabel('Until').fill('2020-01-01T00:00')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.getByText('Choose a time after “From”.').waitFor()
    expect(await page.getByLabel('Until').inputValue()).toBe('2020-01-01T00:00')
    expect(problems).toEqual([])
  })

  test('a user sees its own calls alone, in Chinese on a phone', async () => {
    const { api, token } = console.system
    const { username, password } = await api.createUser(token, 'frank', { role: 'user' })
    const { page, logIn, violations } = await console.visit(`/usage?${WEEK}`, {
      locale: 'zh-CN',
      viewport: { width: 390, height: 800 },
    })
    await logIn(username, password)
    await page.getByText('您自己的密钥的调用').waitFor()
    await page.getByText('此时间范围内没有调用').waitFor()
    expect(await page.getByLabel('用户', { exact: true }).count()).toBe(0)
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    )
    expect(overflow).toBe(0)
    expect(await violations()).toEqual([])
  })
})
