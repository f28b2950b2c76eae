import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createCountedKey } from '../../support/calls-of-key.ts'
import { failuresOf, startWithImpatientAgents } from '../../support/failures.ts'
import type { GatewayWithSandbox } from '../../support/gateway-with-sandbox.ts'
import { MODELS, PLATFORM_NAMES } from '../../support/models.ts'
import { RESPONSES_CLIENTS } from '../support/responses-clients.ts'

// A process, because each package sends its own requests of the Responses API and reads the stream by its own parser.

let system: GatewayWithSandbox

beforeAll(async () => {
  system = await startWithImpatientAgents()
})
afterAll(() => system.remove())

const QUESTIONS = ['My name is Ada.', 'What is my name?'] as const

describe.each(RESPONSES_CLIENTS)('$name', (client) => {
  describe.each(PLATFORM_NAMES)('with an agent of %s', (platform) => {
    test('remembers the first turn in the second, and both are counted', async () => {
      const { apiKey, calls } = await createCountedKey(system)
      const connection = { baseURL: `${system.gateway.url}/api/v1`, apiKey }
      const id = `${client.name}, ${platform}`
      const [, second] = await client.converse(connection, MODELS[platform], id, QUESTIONS)
      expect(second).toContain('Your name is Ada;')

      const counted = await calls(2)
      expect(counted).toMatchObject(
        Array(2).fill({ face: 'responses', outcome: 'done', total_tokens: expect.any(Number) }),
      )
      expect(new Set(counted.map(({ conversation }) => conversation)).size).toBe(1)
    })

    test('fails where the platform fails, and each failure is one call', async () => {
      const { apiKey, calls } = await createCountedKey(system)
      const connection = { baseURL: `${system.gateway.url}/api/v1`, apiKey }
      const failures = failuresOf(platform)
      const answers = await Promise.allSettled(
        failures.map(({ model, question }) => client.ask(connection, model, question)),
      )
      expect(failures.filter((_, index) => answers[index]?.status === 'fulfilled')).toEqual([])

      const counted = await calls(failures.length)
      expect(counted).toHaveLength(failures.length)
      expect(counted.filter(({ outcome, reason }) => outcome === 'done' || reason === null)).toEqual([])
    })
  })

  test('shows the question at which an agent waits, and what is written next answers it', async () => {
    const { apiKey, calls } = await createCountedKey(system)
    const connection = { baseURL: `${system.gateway.url}/api/v1`, apiKey }
    const questions = ['sandbox:interactive', '确认'] as const
    const id = `${client.name}, pause`
    const [question, end] = await client.converse(connection, MODELS.fastgpt, id, questions)
    expect(question).toContain('- 确认\n- 取消')
    expect(end).toContain('你选择了“确认”')
    expect(await calls(2)).toMatchObject([{ outcome: 'done' }, { outcome: 'done' }])
  })
})
