/** A UUID of version 7, such as the gateway gives to requests: its first 48 bits are the milliseconds of its time. */
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i

const HOUR_MS = 3_600_000

/** Before this time there was no such id; one that says so was not made by a clock. */
const EARLIEST = Date.UTC(2020, 0)

interface RequestTimes {
  readonly from: string
  readonly to: string
}

/** When the gateway, or a client by the same rule, made this id; undefined if the id does not say so. */
export function timeOfId(id: string, now: Date): Date | undefined {
  if (!UUID_V7.test(id)) return undefined
  const madeAt = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
  return madeAt < EARLIEST || madeAt > now.getTime() + HOUR_MS ? undefined : new Date(madeAt)
}

/**
 * The times within which a request with this id was served, if its id says so: from an hour before, because clocks differ, to
 * a day after, because the call may have waited, or the client may have sent the request again.
 */
export function timesOfRequest(id: string, now: Date): RequestTimes | undefined {
  const madeAt = timeOfId(id, now)?.getTime()
  if (madeAt === undefined) return undefined
  return {
    from: new Date(madeAt - HOUR_MS).toISOString(),
    to: new Date(madeAt + 24 * HOUR_MS).toISOString(),
  }
}
