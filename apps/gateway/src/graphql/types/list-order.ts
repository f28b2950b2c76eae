import { KEY_ORDERS, KEY_STATES, type KeyOrder } from '#core/accounts/keys/key-filter.ts'
import { USER_ORDERS, type UserOrder as UserOrderWord } from '#core/accounts/users/user-filter.ts'
import { DIRECTIONS } from '#core/lists/list-order.ts'
import { LIST_DESCRIPTIONS } from '#http/descriptions/list-descriptions.ts'
import { enumOf } from '../enum-of.ts'

export const OrderDirection = enumOf('OrderDirection', DIRECTIONS, {
  description: 'The direction of an order.',
  values: LIST_DESCRIPTIONS,
})

export const ApiKeyState = enumOf('ApiKeyState', KEY_STATES, {
  description: 'Whether an API key can be used, and why not.',
  values: LIST_DESCRIPTIONS,
})

export const ApiKeyOrder = enumOf('ApiKeyOrder', Object.keys(KEY_ORDERS) as KeyOrder[], {
  description: 'What a list of API keys can be ordered by.',
  values: LIST_DESCRIPTIONS,
})

export const UserOrder = enumOf('UserOrder', Object.keys(USER_ORDERS) as UserOrderWord[], {
  description: 'What a list of users can be ordered by.',
  values: LIST_DESCRIPTIONS,
})
