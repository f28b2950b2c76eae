const MANY = { points: 1_000_000, windowSeconds: 60 }

/** Limits that no test reaches which measures something else. */
export const RAISED_LIMITS = {
  chat: MANY,
  login: MANY,
  loginAddress: MANY,
  successfulLogins: MANY,
  writes: MANY,
  adminWrites: MANY,
  refusedKeys: MANY,
  reads: MANY,
  calls: MANY,
  reports: MANY,
}
