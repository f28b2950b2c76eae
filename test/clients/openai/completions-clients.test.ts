import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../../support/gateway-with-sandbox.ts'
import { COMPLETIONS_CLIENTS } from '../support/completions-clients.ts'
import type { Connection } from '../support/responses-clients.ts'

// A process, because each package brings its own client of HTTP and reader of streams, which must accept what crosses a socket.

let system: GatewayWithSandbox
let to: Connection

beforeAll(async () => {
  system = await startGatewayWithSandbox()
  to = { baseURL: `${system.gateway.url}/api/v1`, apiKey: system.key }
})
afterAll(() => system.remove())

const REFUSED = 'sandbox:error=filtered Hello'
const QUESTIONS = ['My name is Ada.', 'What is my name?']

describe.each(COMPLETIONS_CLIENTS)('$name', ({ ask, stream, reasonIn, tellsOnly }) => {
  const failure = expect.toSatisfy((error) =>
    (reasonIn?.(error) ?? error.message).includes(tellsOnly ?? 'content_filtered'),
  )

  test('gets an answer to the messages of a chat', async () => {
    expect(await ask(to, 'dify', QUESTIONS)).toContain('Ada')
  })

  test('throws a refusal, with what the client tells of it', async () => {
    await expect(ask(to, 'dify', [REFUSED])).rejects.toEqual(failure)
  })

  describe.runIf(stream !== undefined)('as a stream', () => {
    const read = (question: string | readonly string[]) => stream?.(to, 'dify', [question].flat()) ?? []

    test('gets the same answer in pieces', async () => {
      const pieces = await read(QUESTIONS)
      expect(pieces.length).toBeGreaterThan(2)
      expect(pieces.join('')).toBe(await ask(to, 'dify', QUESTIONS))
    })

    test('throws a refusal, with what the client tells of it', async () => {
      await expect(read(REFUSED)).rejects.toEqual(failure)
    })

    test('does not take a stream that fails for a whole one', async () => {
      await expect(read('sandbox:error-midstream Hello')).rejects.toThrow()
    })
  })
})
