import type { Role } from '#core/principal.ts'
import type { QuotaPeriod, User, UserStatus } from '#generated/prisma/client.ts'
import { periodStart } from './quota-period.ts'

/** A user as callers see it: without its secrets, and with the count of the current period. */
export interface Account {
  readonly id: string
  readonly username: string
  readonly role: Role
  readonly status: UserStatus
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly lastLogin: Date | null
  readonly apiCallsCount: number
  readonly maxApiCalls: number
  readonly quotaPeriod: QuotaPeriod
}

export function toAccount(user: User, now: Date): Account {
  const { id, username, role, status, createdAt, updatedAt, lastLogin, quotaPeriod } = user
  // Admission rolls a period over at its next call; until then the row still holds the period before.
  const isCurrent = user.quotaStart >= periodStart(quotaPeriod, now)
  return {
    id,
    username,
    role,
    status,
    createdAt,
    updatedAt,
    lastLogin,
    apiCallsCount: isCurrent ? Number(user.apiCallsCount) : 0,
    maxApiCalls: Number(user.maxApiCalls),
    quotaPeriod,
  }
}
