import { Refusal } from '../serving/answer.ts'
import { type CozeDialect, cozeErrors, cozeRefusal } from './errors.ts'

// The token selects the dialect.
export const KEYS = { cloud: 'pat_sandbox', studio: 'pat_sandbox_studio' } as const

/** @throws Refusal if the token is none of them */
export function dialectOf(authorization: string | undefined): CozeDialect {
  if (authorization === `Bearer ${KEYS.cloud}`) return 'cloud'
  if (authorization === `Bearer ${KEYS.studio}`) return 'studio'
  const dialect = authorization?.includes('studio') ? 'studio' : 'cloud'
  throw new Refusal(cozeRefusal(dialect, cozeErrors[dialect].credentials))
}
