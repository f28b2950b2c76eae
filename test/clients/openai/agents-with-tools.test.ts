import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../../support/gateway-with-sandbox.ts'
import { AGENT_CLIENTS, type Watched } from '../support/agents-with-tools.ts'

// A process, because each package runs the loop of its agent by requests of its own.

let system: GatewayWithSandbox

beforeAll(async () => {
  // CopilotKit reports each run to its makers otherwise.
  vi.stubEnv('COPILOTKIT_TELEMETRY_DISABLED', 'true')
  system = await startGatewayWithSandbox({
    agents: ({ dify }) => ({ 'help-desk': { ...dify, tools: 'ignore' } }),
  })
})
afterAll(() => {
  vi.unstubAllEnvs()
  return system.remove()
})

beforeEach(() => {
  // Some write failures to the console as well.
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
})

/** A connection, and what the gateway says it has left out of each request. */
function watch() {
  const dropped: (string | null)[] = []
  const to: Watched = {
    baseURL: `${system.gateway.url}/api/v1`,
    apiKey: system.key,
    async fetch(...request) {
      const response = await fetch(...request)
      dropped.push(response.headers.get('x-dropped-tools'))
      return response
    },
  }
  return { to, dropped }
}

describe.each(AGENT_CLIENTS)('$name', ({ run, stream, answerWithTool }) => {
  test('gets an answer of an agent that ignores tools, and a header names what was left out', async () => {
    const { to, dropped } = watch()
    const answer = await run(to, 'help-desk', 'Hello')
    expect(answer).toMatch(/You asked: “Hello”/)
    expect(dropped).toEqual(['function'])
    const pieces = await stream(to, 'help-desk', 'Hello')
    expect(pieces.length).toBeGreaterThan(2)
    expect(pieces.join('')).toBe(answer)
  })

  test('is refused by an agent that takes no tools, and throws what is at fault', async () => {
    await expect(run(watch().to, 'dify', 'Hello')).rejects.toThrow(/tools: agent dify does not support it/)
  })

  test('throws a failure of the platform, with its text', async () => {
    const question = 'Hello sandbox:error=filtered'
    await expect(run(watch().to, 'help-desk', question)).rejects.toThrow(/filtered/)
  })

  test('does not take a stream that fails for a whole one', async () => {
    await expect(stream(watch().to, 'help-desk', 'Hello sandbox:error-midstream')).rejects.toThrow()
  })

  test('calls its tool where the agent takes tools', async () => {
    const { to, dropped } = watch()
    expect(await run(to, 'openai', 'Please use the tool')).toMatch(answerWithTool)
    expect(new Set(dropped)).toEqual(new Set([null]))
  })
})
