import { expect } from 'vitest'
import { SLOW_FIRST } from '../client.ts'
import { HEADER_HOLD_MS } from '../gateway-with-emulators.ts'
import type { Check } from '../trial.ts'

export const STREAMS = {
  async 'END-01'(trial) {
    for (const reply of await trial.everyWay('Hello, what is a gateway?')) {
      expect(reply.finishes).toHaveLength(1)
      expect(reply.reason).toBeUndefined()
      const isStream = reply.headers.get('content-type')?.startsWith('text/event-stream') === true
      expect(reply.isDone).toBe(isStream)
      expect(reply.raw.split('[DONE]')).toHaveLength(isStream ? 2 : 1)
    }
  },

  async 'END-02'(trial) {
    const query = `${SLOW_FIRST}=${HEADER_HOLD_MS + 200} sandbox:html Hello`
    const reply = await trial.ask({ query, stream: true })
    expect([reply.status, reply.reason, reply.isDone]).toEqual([200, 'agent_error', false])
    expect(reply.raw).toMatch(/^: keep-alive\n\n/)
    expect(reply.bodies).toHaveLength(1)
  },

  async 'END-03'(trial) {
    const opened = await trial.open({ query: 'sandbox:silence sandbox:echo first second' })
    const raw = await opened.until(/(?:: keep-alive\n\n){2}/)
    opened.leave()
    expect(raw).toMatch(/"content":"first".*\n\n(?:: keep-alive\n\n){2,}$/s)
  },
} satisfies Record<string, Check>
