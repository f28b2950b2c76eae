import { Trunkline } from '@trunkline/sdk'
import { withGraphQL } from '@trunkline/sdk/graphql'
import { SessionStore } from './session.ts'

export const sessions = new SessionStore(window.sessionStorage)

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

/** Ends the session here even if the gateway cannot be reached; the token then ends by itself. */
export async function logOut(): Promise<void> {
  try {
    await client.logout()
  } finally {
    sessions.set(undefined)
  }
}
