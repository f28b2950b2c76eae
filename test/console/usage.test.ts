import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../support/browser.ts'
import { joinConsole, type SharedConsole } from '../support/console-page.ts'

// A browser, because the chart is drawn on a canvas, whose pixels are read, and is dragged over and touched.

const CALLS = { dify: 3, coze: 2, fastgpt: 1 }
/** A week, so that the calls are in the range also when the test runs across midnight. */
const WEEK = 'range=7d&by=hour&zone=Asia/Shanghai'

describe.runIf(HAS_BROWSER)('the usage of the console', () => {
  let console: SharedConsole
  let startedMs: number
  let second: { id: string; full_key: string }
  /** Reports of a user have the calls of no other. */
  let caller: { id: string; username: string; password: string }

  beforeAll(async () => {
    console = await joinConsole('ursula')
    const { api, token } = console.system
    startedMs = Date.now()
    caller = await api.createUser(token, 'calling-ursula', { role: 'premium' })
    const { full_key: key } = await api.createKey(token, { owner_id: caller.id })
    second = await api.createKey(token, { name: 'second key', owner_id: caller.id })
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
  /** The name and the rows of the file that the page saves. */
  const saved = async (page: Page) => {
    const downloaded = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Save as CSV' }).click()
    const download = await downloaded
    const text = await readFile(await download.path(), 'utf8')
    return { name: download.suggestedFilename(), rows: text.trimEnd().split('\r\n') }
  }
  const open = (path: string, options: Parameters<typeof console.open>[2] = {}) =>
    console.open(path, caller, options)
  const chart = (page: Page) => page.getByRole('img', { name: /^Calls, / })

  test('the chart, the tables and the CSV file say what the report says, and the address keeps it', async () => {
    const { page, problems } = await open(`/usage?${WEEK}&group=agent`)
    await chart(page).locator('canvas').waitFor()
    const byAgent = [
      ['Dify', '3'],
      ['Coze', '2'],
      ['FastGPT', '1'],
      ['Total', '6'],
    ]
    await expect.poll(() => rows(page)).toEqual(byAgent)

    await page.getByRole('button', { name: 'Over time' }).click()
    const hours = page.getByRole('table', { name: /^Calls, / }).locator('tbody tr')
    // An hour may have begun amid the calls, or after them.
    const inTheLastTwo = async () => {
      const rows = await hours.evaluateAll((rows) =>
        rows
          .slice(0, 2)
          .map((row) => [...row.querySelectorAll('td')].map((cell) => Number(cell.textContent))),
      )
      return rows[0]?.map((count, column) => count + (rows[1]?.[column] ?? 0))
    }
    await expect.poll(inTheLastTwo).toEqual(expect.arrayContaining([3, 2, 1, 6]))
    // What is grouped by another property as well is shown as a list of its own.
    await page.getByLabel('Then by').selectOption('outcome')
    await page.getByRole('button', { name: 'Totals' }).click()
    await page
      .getByRole('table', { name: 'The totals of each group' })
      .getByRole('row', { name: /^Dify · Done 3 0/ })
      .waitFor()

    // The file is the table that is shown.
    const totals = await saved(page)
    expect(totals.name).toMatch(/^trunkline-usage-by-agent-outcome-[\d-]{10}-to-[\d-]{10}\.csv$/)
    expect(totals.rows[0]).toMatch(/^agent,agent_name,outcome,calls,failed_calls,/)
    expect(totals.rows.slice(1).map((row) => row.split(',').slice(0, 4).join())).toEqual([
      'dify,Dify,done,3',
      'coze,Coze,done,2',
      'fastgpt,FastGPT,done,1',
    ])
    await page.getByRole('button', { name: 'Over time' }).click()
    const points = await saved(page)
    expect(points.name).toContain('-hourly-')
    expect(points.rows[0]).toMatch(/^start,time,agent,agent_name,outcome,calls,/)
    expect(points.rows[1]).toMatch(/T16:00:00\.000Z,[\d-]{10} 00:00,dify,Dify,/)
    await page.getByRole('button', { name: 'Totals' }).click()

    // Another person who opens the address sees the same.
    const { page: other } = await console.open(page.url().split('/console')[1] ?? '', caller, {
      locale: 'en-GB',
    })
    await other
      .getByRole('table', { name: 'The totals of each group' })
      .getByRole('row', { name: /^Dify · Done 3 0/ })
      .waitFor()
    expect(other.url()).toBe(page.url())
    expect(problems).toEqual([])
  })

  test('the chart has the colours of the page, also after they have changed', async () => {
    const { page } = await open(`/usage?${WEEK}`)
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
    const { page } = await open(`/usage?${WEEK}&group=key`)
    await expect
      .poll(() => rows(page))
      .toEqual([
        ['test', '4'],
        ['second key', '2'],
        ['Total', '6'],
      ])
    await page.getByLabel('Key', { exact: true }).selectOption(second.id)
    await expect
      .poll(() => rows(page))
      .toEqual([
        ['second key', '2'],
        ['Total', '2'],
      ])
    await page.getByLabel('Group by').selectOption('')
    await page.getByRole('button', { name: 'Duration', exact: true }).click()
    await page.getByRole('button', { name: 'Over time' }).click()
    const header = page.getByRole('table', { name: /^Duration, / }).getByRole('columnheader')
    await expect.poll(() => header.allTextContents()).toEqual(['Hour', 'p50'])
    await page.getByRole('button', { name: 'p99', exact: true }).click()
    await expect.poll(() => header.allTextContents()).toEqual(['Hour', 'p99'])
    await page.getByLabel('Agent', { exact: true }).selectOption('dify')
    await page.getByText('No calls in this range').waitFor()
    expect(new URL(page.url()).searchParams.get('key')).toBe(second.id)
  })

  test('dragging over the chart zooms in, and the way back leads out again', async () => {
    const { page, problems } = await open(`/usage?${WEEK}`)
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
    await expect.poll(() => rows(page)).toEqual([['Total', '6']])
    await page.goBack()
    await page.waitForURL(/range=7d/)

    await page.getByRole('button', { name: 'From – to' }).click()
    await page.getByLabel('Until').fill('2020-01-01T00:00')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.getByText('Choose a time after “From”.').waitFor()
    expect(await page.getByLabel('Until').inputValue()).toBe('2020-01-01T00:00')
    expect(problems).toEqual([])
  })

  test('a report stands beside that of the period before, in the chart, the table and the file', async () => {
    const nextHour = Math.ceil(startedMs / 3_600_000) * 3_600_000
    // The calls are in the three hours before these.
    const [from, to] = [nextHour, nextHour + 3 * 3_600_000].map((ms) => new Date(ms).toISOString())
    const { page, problems } = await open(`/usage?from=${from}&to=${to}&zone=UTC&group=agent&table=groups`)
    await page.getByText('No calls in this range').waitFor()
    await page.getByLabel('Compare with the period before').check()
    await chart(page).locator('canvas').waitFor()
    const total = page
      .getByRole('table', { name: 'The totals of each group' })
      .getByRole('row', { name: 'Total' })
    await expect.poll(() => total.getByRole('cell').first().textContent()).toBe('0 before: 6 100%')
    // A group that called only in the period before is a row as well.
    const gone = page.getByRole('row', { name: /^Dify 0 before: 3/ })
    expect(await gone.getByRole('cell').first().textContent()).toBe('0 before: 3 100%')
    // It leads to its calls then, as its number does.
    const toCalls = await gone
      .getByRole('link')
      .evaluateAll((links: HTMLAnchorElement[]) => links.map(({ href }) => href))
    expect(toCalls).toHaveLength(3)
    for (const href of toCalls) expect(new URL(href).searchParams.get('to')).toBe(from)
    const before = await page.getByRole('link', { name: 'Period before' }).getAttribute('href')
    expect(new URL(before ?? '', page.url()).searchParams.get('to')).toBe(from)
    // Its bars are to the left of the middle of each bucket.
    const box = await chart(page).locator('.u-over').boundingBox()
    if (box === null) throw new Error('the chart has no place')
    await page.mouse.click(box.x + (box.width * 5) / 6 - 6, box.y + box.height - 3)
    await page.waitForURL(/\/calls\?/)
    expect(new URL(page.url()).searchParams.get('to')).toBe(from)
    await page.goBack()

    await page.getByRole('button', { name: 'Over time' }).click()
    const header = page.getByRole('table', { name: /^Calls, / }).getByRole('columnheader')
    await expect
      .poll(() => header.allTextContents())
      .toEqual(['Hour', 'Compared with', 'Period before', 'Change'])
    await page.getByLabel('Group by').selectOption('')
    const file = await saved(page)
    expect(file.name).toMatch(/^trunkline-usage-hourly-.*-compared\.csv$/)
    const column = file.rows[0]?.split(',').indexOf('before_calls') ?? -1
    const counts = file.rows.slice(1).map((row) => Number(row.split(',')[column]))
    expect(counts.reduce((sum, calls) => sum + calls, 0)).toBe(6)
    expect(problems).toEqual([])
  })

  test('a bar, a name in the legend, a row and a number lead to their calls, by the keyboard as well', async () => {
    // The first calls, which are those of Dify, are in the first of these hours.
    const hour = Math.floor(startedMs / 3_600_000) * 3_600_000
    const [start, end] = [hour, hour + 3 * 3_600_000].map((ms) => new Date(ms).toISOString())
    const { page } = await open(`/usage?from=${start}&to=${end}&zone=UTC&group=agent`)
    await chart(page).locator('canvas').waitFor()
    /** What the address of the list of calls asks for, and the way back. */
    const opened = async () => {
      await page.waitForURL(/\/calls\?/)
      const { searchParams } = new URL(page.url())
      const [from, to] = ['from', 'to'].map((name) => Date.parse(searchParams.get(name) ?? ''))
      await page.goBack()
      await chart(page).locator('canvas').waitFor()
      return { ...Object.fromEntries(searchParams), hours: ((to ?? 0) - (from ?? 0)) / 3_600_000 }
    }
    const table = page.getByRole('table', { name: 'The totals of each group' })
    await table.getByRole('row', { name: /^Coze/ }).getByRole('link', { name: '2', exact: true }).click()
    expect(await opened()).toMatchObject({ agent: 'coze', from: start, to: end })
    await table.getByRole('link', { name: 'FastGPT' }).click()
    expect(await opened()).toMatchObject({ agent: 'fastgpt', from: start })
    await page.getByRole('main').getByRole('listitem').getByRole('link', { name: 'Dify' }).click()
    expect(await opened()).toMatchObject({ agent: 'dify', from: start })

    const walker = page.getByRole('slider')
    await walker.focus()
    expect(await walker.getAttribute('aria-valuetext')).toContain('Dify')
    await page.keyboard.press('Home')
    await page.keyboard.press('Enter')
    const first = await opened()
    expect(first).toMatchObject({ from: start, hours: 1 })
    expect(first).not.toHaveProperty('agent')

    // The lowest layer of a bar is that of the agent with the most calls.
    const box = await chart(page).locator('.u-over').boundingBox()
    if (box === null) throw new Error('the chart has no place')
    await page.mouse.click(box.x + box.width / 6, box.y + box.height - 3)
    expect(await opened()).toMatchObject({ agent: 'dify', from: start, hours: 1 })

    // Nothing is drawn of a period before in which nobody called.
    await page.getByLabel('Compare with the period before').check()
    await page.getByText('no calls in the period before').waitFor()
    expect(await page.getByText(/^Period before|compared with/).count()).toBe(0)
    // A percentile leads to the calls that took at least as long.
    await page.getByLabel('Group by').selectOption('')
    await page.getByRole('button', { name: 'Duration' }).click()
    await page.getByRole('button', { name: 'p95', exact: true }).click()
    await page.getByRole('link', { name: 'p95', exact: true }).click()
    await page.waitForURL(/\/calls\?.*ms=\d/)
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toMatchObject({ from: start, to: end })
  })

  test('a finger that touches a bar sees its values, and below the chart the way to its calls', async () => {
    const hour = Math.floor(startedMs / 3_600_000) * 3_600_000
    const [start, end] = [hour, hour + 3 * 3_600_000].map((ms) => new Date(ms).toISOString())
    const { page } = await open(`/usage?from=${start}&to=${end}&zone=UTC&group=agent`, {
      viewport: { width: 390, height: 800 },
      hasTouch: true,
    })
    await chart(page).locator('canvas').waitFor()
    const box = await chart(page).locator('.u-over').boundingBox()
    if (box === null) throw new Error('the chart has no place')
    await page.touchscreen.tap(box.x + box.width / 6, box.y + box.height - 3)
    const way = page.getByRole('link', { name: /^Show the records of .* · Dify$/ })
    await way.waitFor()
    expect(page.url()).toContain('/usage')
    await way.click()
    await page.waitForURL(/\/calls\?/)
    const { searchParams } = new URL(page.url())
    expect(Object.fromEntries(searchParams)).toMatchObject({ agent: 'dify', from: start })
  })

  test('a user sees its own calls alone, in Chinese on a phone', async () => {
    const { api, token } = console.system
    const user = await api.createUser(token, 'quiet-frank', { role: 'user' })
    const { page } = await console.open(`/usage?${WEEK}`, user, {
      locale: 'zh-CN',
      viewport: { width: 390, height: 800 },
    })
    await page.getByText('您自己的密钥的调用').waitFor()
    await page.getByText('此时间范围内没有调用').waitFor()
    // The filters do not take the first screen.
    const agent = page.getByLabel('智能体', { exact: true })
    expect(await agent.isVisible()).toBe(false)
    await page.getByRole('button', { name: '7 天 · 筛选', exact: true }).click()
    await agent.waitFor()
    await page.getByLabel('分组').selectOption('agent')
    await page.getByRole('button', { name: '7 天 · 筛选（1）' }).waitFor()
    expect(await page.getByLabel('用户', { exact: true }).count()).toBe(0)
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    )
    expect(overflow).toBe(0)
  })
})
