import { expect, test } from 'vitest'
import type { ChatEvent } from '#core/agents/events.ts'
import { chatOf } from '#rest/chat/chat.test-support.ts'
import { foldCompletion } from './reply.ts'

const options = { reasoning: true, replyBytesMax: 1_000 }
const words = 'x'.repeat(400)

test.each<[string, ChatEvent]>([
  ['text', { type: 'text', text: words }],
  ['reasoning', { type: 'reasoning', text: words }],
  ['arguments of tools', { type: 'tool_calls', delta: [{ index: 0, function: { arguments: words } }] }],
])('a completion that grows beyond its size by %s is a failure', async (_name, event) => {
  await expect(foldCompletion(chatOf(Array(3).fill([event])), options)).rejects.toMatchObject({
    reason: 'agent_malformed',
  })
})
