import { RATINGS } from '#core/conversations/rate-call.ts'
import { enumOf } from '../enum-of.ts'

export const Rating = enumOf('Rating', RATINGS, {
  description: 'What a user thinks of an answer.',
  values: { up: 'It was good.', down: 'It was not.' },
})
