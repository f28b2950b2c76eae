import { pino } from 'pino'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Face, openFace } from '#test/graphql/face.test-support.ts'

const REQUESTS = 40

interface LogLine {
  readonly msg: string
  readonly count?: number
}

let face: Face
const lines: LogLine[] = []

beforeAll(async () => {
  const log = pino({ level: 'error' }, { write: (line) => void lines.push(JSON.parse(line)) })
  face = await openFace({ log, serverUrl: process.env.E2E_DATABASE_URL })
})
afterAll(() => face?.close())

test('an outage of the database is logged once a second, with the number of requests', async () => {
  const outage = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  const list = vi.spyOn(face.gateway.services.keys, 'list').mockImplementation(() => Promise.reject(outage))
  const answers = await Promise.all(
    Array.from({ length: REQUESTS }, () => face.get('premium', '/api/v1/api-keys')),
  )
  const own = () => lines.filter(({ msg }) => msg === 'unavailable')
  const counted = () => own().reduce((sum, { count = 0 }) => sum + count, 0)
  expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(REQUESTS).fill(503))
  await vi.waitFor(() => expect(counted()).toBe(REQUESTS), 20_000)
  expect(own()[0]?.count).toBe(1)
  expect(own().length).toBeLessThan(REQUESTS / 4)
  list.mockRestore()
})
