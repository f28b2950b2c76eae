import { isAdmin, type Principal } from '#core/requests/principal.ts'
import { type Limits, type OnLimit, requirePoint } from './limits.ts'

/**
 * Takes a point for something that the caller creates, changes, resets or deletes. All credentials of a user share the points,
 * since each write leaves an event in the audit log, whose size would otherwise be for its caller to decide. What ends an
 * incident never takes one: revoking a key, suspending a user, changing a password, logging out.
 *
 * @throws Problem `rate_limited`
 */
export type TakeWrite = (caller: Principal, onLimit?: OnLimit) => Promise<void>

export function createTakeWrite(limits: Pick<Limits, 'writes' | 'adminWrites'>): TakeWrite {
  return (caller, onLimit) =>
    requirePoint(isAdmin(caller) ? limits.adminWrites : limits.writes, caller.userId, onLimit)
}
