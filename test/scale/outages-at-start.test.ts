import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { configOf } from '../support/load.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'

// A process, because a start must succeed without Redis and S3, and its log says what is missing.

const redisUrl = process.env.E2E_REDIS_URL ?? ''

describe.skipIf(redisUrl === '')('a start whose Redis and S3', () => {
  let platform: Platform
  beforeAll(async () => {
    platform = await startPlatform()
  })
  afterAll(() => platform.close())

  test.each<[string, (proxy: TcpProxy) => unknown]>([
    ['refuse connections', (proxy) => proxy.cut()],
    ['accept connections and never answer', (proxy) => proxy.stall()],
  ])(
    '%s is ready, logs one warning for each, and one line when each is back',
    async (_, interrupt) => {
      const redis = await startTcpProxy(redisUrl)
      const s3 = await startTcpProxy(await startEmptyBucket())
      onTestFinished(async () => {
        await redis.close()
        await s3.close()
      })
      await interrupt(redis)
      await interrupt(s3)
      const keys = { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'hunter2' }
      const env = {
        REDIS_URL: redis.url,
        S3_BUCKET: 'files',
        S3_ENDPOINT: s3.url.replace(/\/$/, ''),
        ...keys,
      }
      const gateway = await startGateway({ config: configOf(platform), env, isOnDisk: true })
      onTestFinished(() => gateway.remove())
      expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200)

      await gateway.prints(/"msg":"Redis at 127\.0\.0\.1:\d+ does not answer: each process enforces its part/)
      await gateway.prints(
        /"msg":"uploads are refused until the storage of files answers: S3 at 127\.0\.0\.1:\d+ /,
      )
      await redis.restore()
      await s3.restore()
      await gateway.prints(/"msg":"Redis at 127\.0\.0\.1:\d+ answers: limits hold across processes"/)
      await gateway.prints(/"msg":"the storage of files answers again"/)
      expect(gateway.output.match(/"level":"(warn|error)"/g)).toHaveLength(2)
    },
    120_000,
  )
})

/** Answers as S3 does where there is no such file. */
async function startEmptyBucket(): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(404, { 'content-type': 'application/xml' })
    response.end('<?xml version="1.0"?><Error><Code>NoSuchKey</Code><Message>none</Message></Error>')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
