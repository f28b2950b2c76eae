import { createLimits, type LimitRule, type LimitRules, type Limits } from './limits.ts'

/** Limits so high that they are never reached, for tests and measurements of other things. */
export function ampleLimits(): Limits {
  return limitsOf({ points: 1_000_000_000, windowSeconds: 60 })
}

/** Limits that all have the same rule. */
export function limitsOf(rule: LimitRule): Limits {
  return createLimits(rulesOf(rule))
}

/** The same rule for every limit. */
export function rulesOf(rule: LimitRule): LimitRules {
  return {
    chat: rule,
    upload: rule,
    agents: rule,
    reports: rule,
    calls: rule,
    reads: rule,
    login: rule,
    loginAddress: rule,
    writes: rule,
    adminWrites: rule,
    successfulLogins: rule,
    refusedKeys: rule,
    refusedDocuments: rule,
  }
}
