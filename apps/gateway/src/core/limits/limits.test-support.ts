import { createLimits, type LimitRule, type Limits } from './limits.ts'

/** Limits that nothing reaches, for what is measured or tested without them. */
export function ampleLimits(): Limits {
  return limitsOf({ points: 1_000_000_000, windowSeconds: 60 })
}

/** The same rule for everything. */
export function limitsOf(rule: LimitRule): Limits {
  return createLimits({
    ...{ chat: rule, upload: rule, agents: rule, reports: rule, calls: rule },
    ...{ login: rule, loginAddress: rule, refusedKeys: rule },
  })
}
