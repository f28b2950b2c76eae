import { Trunkline } from '@trunkline/sdk'
import { withGraphQL } from '@trunkline/sdk/graphql'
import { SessionStore } from './session.ts'
import { SessionKeys } from './session-keys.ts'

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

/** A logout does not wait longer for keys to be revoked, which expire by themselves. */
const REVOKE_WITHIN_MS = 5_000

// However a session ends: its token may still be valid, for instance where the clock of this machine is ahead.
sessions.onEnd(() => void revokeKeys())

/** @throws TrunklineError `login_failed` if the username or the password is wrong */
export async function logIn(username: string, password: string): Promise<void> {
  const { access_token, expires_in, user } = await client.login({ username, password })
  sessions.set({
    accessToken: access_token,
    expiresAtMs: Date.now() + expires_in * 1_000,
    userId: user.id,
    username: user.username,
    role: user.role,
  })
}

/** Ends the session here even if the gateway cannot be reached; the token and the keys then end by themselves. */
export async function logOut(): Promise<void> {
  try {
    await revokeKeys()
    await client.logout()
  } finally {
    sessions.set(undefined)
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
