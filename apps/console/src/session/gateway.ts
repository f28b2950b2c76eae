import { Trunkline } from '@trunkline/sdk'
import { withGraphQL } from '@trunkline/sdk/graphql'
import { randomId } from './random-id.ts'
import { type Session, SessionStore } from './session.ts'
import { SessionKeys } from './session-keys.ts'
import { SessionTabs } from './session-tabs.ts'

export const sessions = new SessionStore(window.sessionStorage)

/** What the console has made for itself, such as the keys of the playground. */
export const sessionKeys = new SessionKeys(sessions)

/**
 * The client of the gateway that serves this page. It repeats nothing by itself: reads are repeated by the cache of queries,
 * which shows that it waits.
 */
export const client = new Trunkline({
  baseURL: location.origin,
  accessToken: sessions.current?.accessToken,
  maxRetries: 0,
})

export const gql = withGraphQL(client)

/** The session as the other tabs of this browser have it. */
export const tabs = new SessionTabs(sessions, new BroadcastChannel('trunkline.session'))

// The token of a login in another tab.
sessions.subscribe(() => {
  const { current } = sessions
  if (current === undefined) return
  const { accessToken, expiresAtMs } = current
  client.transport.credentials.keep({
    access_token: accessToken,
    expires_in: (expiresAtMs - Date.now()) / 1_000,
  })
})

/** The page asks for the password so long before the end of a session, or after three quarters of a short one. */
const WARN_BEFORE_MS = 300_000

/** The other tabs get so long to begin to revoke their keys, which the token permits until it is revoked itself. */
const OTHERS_REVOKE_MS = 200

/** A logout does not wait longer for keys to be revoked, which expire by themselves. */
const REVOKE_WITHIN_MS = 5_000

// However a session ends: its token may still be valid, for instance where the clock of this machine is ahead.
sessions.onEnd(() => void revokeKeys())

/** @throws TrunklineError `login_failed` if the username or the password is wrong */
export async function logIn(username: string, password: string): Promise<void> {
  sessions.set(await sessionFor(username, password, randomId()))
}

/**
 * Goes on with the session of the same user, with a new token. Nothing of the page is lost.
 *
 * @throws TrunklineError `login_failed` if the password is wrong
 */
export async function renewSession({ id, username }: Session, password: string): Promise<void> {
  const session = await sessionFor(username, password, id)
  // It may have ended meanwhile.
  if (sessions.current?.id === id) sessions.renew(session)
  else sessions.set(session)
}

async function sessionFor(username: string, password: string, id: string): Promise<Session> {
  const { access_token, expires_in, user } = await client.login({ username, password })
  const lifetimeMs = expires_in * 1_000
  const expiresAtMs = Date.now() + lifetimeMs
  return {
    id,
    accessToken: access_token,
    expiresAtMs,
    warnAtMs: expiresAtMs - Math.min(WARN_BEFORE_MS, lifetimeMs / 4),
    userId: user.id,
    username: user.username,
    role: user.role,
  }
}

/** Ends the session here even if the gateway cannot be reached; the token and the keys then end by themselves. */
export async function logOut(): Promise<void> {
  try {
    tabs.endOthers()
    await Promise.all([revokeKeys(), new Promise((resolve) => setTimeout(resolve, OTHERS_REVOKE_MS))])
    await client.logout()
  } finally {
    sessions.end('loggedOut')
  }
}

/** Revokes the keys that were made in this session, as far as its token still permits it. */
async function revokeKeys(): Promise<void> {
  const revoked = sessionKeys.all.map(async ({ id }) => {
    sessionKeys.forget(id)
    await client.apiKeys.revoke(id, { timeoutMs: REVOKE_WITHIN_MS })
  })
  await Promise.allSettled(revoked)
}
