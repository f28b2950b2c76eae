import { CALL_FACES } from '#core/ledger/call-kinds.ts'
import { open } from './vocabulary.ts'

export const CALL_FACE = open('CallFace', CALL_FACES, 'The interface through which a call came.', {
  rest: 'The REST API.',
  openai: "OpenAI's chat completions.",
  graphql: 'The GraphQL API.',
  responses: "OpenAI's Responses API.",
})
