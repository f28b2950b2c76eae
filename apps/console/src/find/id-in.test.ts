import { expect, test } from 'vitest'
import { idIn } from './id-in.ts'

const ID = '01a2158a-5db5-725f-9505-56a62591bac4'

test.each([
  ID,
  ` ${ID}\n`,
  `"${ID}"`,
  `'${ID}',`,
  `X-Request-Id: ${ID}`,
  `x-request-id:${ID}`,
  `"request_id": "${ID}",`,
  `requestId=${ID}`,
  `x-conversation-id: ${ID}`,
  `"conversation_id": "${ID}",`,
  `"chat_id": "${ID}"`,
])('the id in %j is found without what stands around it', (text) => {
  expect(idIn(text)).toBe(ID)
})

test.each(['ticket-42', `job-${ID}`, 'a: b', 'requests'])('%j is an id as it is', (text) => {
  expect(idIn(text)).toBe(text)
})
