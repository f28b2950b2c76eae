import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apiOf } from '../support/api.ts'
import { prepareGateway, type TestGateway } from '../support/gateway.ts'
import { configOf, sendChat } from '../support/load.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'

// A process, because the standard output of a process is what a collector of logs reads.

/** The embedded database has one process. */
const WORKERS = process.env.E2E_DATABASE_URL === undefined ? [1] : [1, 2]

describe.each(WORKERS)('the standard output of a production gateway with WORKERS=%i', (workers) => {
  let platform: Platform
  let gateway: TestGateway

  beforeAll(async () => {
    platform = await startPlatform()
    gateway = await prepareGateway({
      isFirstStart: true,
      config: configOf(platform),
      env: { NODE_ENV: 'production', WORKERS: String(workers) },
    })
    expect(await gateway.trunkline('migrate')).toMatchObject({ code: 0 })
  })
  afterAll(async () => {
    await gateway?.remove()
    await platform?.close()
  })

  test('is JSON lines alone, from the first start to the stop, and each names its process', async () => {
    await gateway.start()
    await until('all listen', () => gateway.stdout.match(/"msg":"listening"/g)?.length === workers)
    const api = apiOf(gateway)
    const { full_key } = await api.createKey(await api.login())
    expect((await sendChat(gateway.url, full_key)).status).toBe(200)
    if (workers > 1) {
      const [, pid] = /"pid":(\d+).*"msg":"listening"/.exec(gateway.stdout) ?? []
      process.kill(Number(pid), 'SIGKILL')
      await until('it is replaced', () => gateway.stdout.match(/"msg":"listening"/g)?.length === workers + 1)
    }
    await gateway.stop()

    const lines: Record<string, unknown>[] = gateway.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    for (const line of lines) {
      expect(line).toMatchObject({
        level: expect.any(String),
        time: expect.any(String),
        pid: expect.any(Number),
        host: expect.stringMatching(/./),
        instance: expect.stringMatching(/^[0-9a-f-]{36}$/),
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
        msg: expect.any(String),
      })
    }
    const messages = lines.map(({ msg }) => msg)
    expect(messages).toEqual(
      expect.arrayContaining(['the first administrator was created', 'listening', 'request', 'stopped']),
    )
    expect(gateway.stdout).not.toContain(gateway.admin.password)
  })
})
