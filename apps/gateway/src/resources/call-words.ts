import { RATINGS } from '#core/conversations/rate-call.ts'
import { CALL_FACES, CALL_KINDS, OUTCOMES } from '#core/ledger/call-kinds.ts'
import { closed, open } from './define/vocabulary.ts'

export const CALL_KIND = open('CallKind', CALL_KINDS, 'What a call did.', {
  chat: 'A chat with an agent.',
  upload: 'An upload of a file.',
})

export const CALL_FACE = open('CallFace', CALL_FACES, 'The interface through which a call came.', {
  rest: 'The REST API.',
  openai: "OpenAI's chat completions.",
  graphql: 'The GraphQL API.',
  responses: "OpenAI's Responses API.",
})

const OUTCOME_MEANINGS = {
  done: 'With a complete reply.',
  client_gone: 'The client left before the end.',
  upstream_error: 'The platform failed.',
  timeout: 'The platform took too long.',
  drained: 'The gateway shut down.',
  interrupted: 'The process of the gateway died.',
  rejected:
    'It was refused for a reason of the caller after it had been admitted, or while it ran its key was revoked or expired, or the owner of the key was suspended.',
}

export const CALL_OUTCOME = open('CallOutcome', OUTCOMES, 'How a call ended.', OUTCOME_MEANINGS)

export const CALL_STATE = closed(
  'CallState',
  [...OUTCOMES, 'running', 'failed'],
  'Whether a call still runs, or how it ended, in filters.',
  {
    ...OUTCOME_MEANINGS,
    running: 'It has not ended. Reports count only calls that have ended and do not take it.',
    failed:
      'In any way that counts as a failure: the platform failed or took too long, or the gateway shut down or died.',
  },
)

export const RATING = closed('Rating', RATINGS, 'What a user thinks of an answer.', {
  up: 'It was good.',
  down: 'It was not.',
})
