const REST_SECONDS = 60
/** More credentials than any configuration has; the bound is for configurations that change while the gateway runs. */
const RESTS_MAX = 1_000

interface Rest {
  readonly sinceMs: number
  readonly untilMs: number
  /** For whose calls it rests; undefined if it rests for all, since calls of several owners were refused. */
  readonly owner: string | undefined
}

/**
 * The credentials of one agent that its platforms have refused, or whose quota or rate is used up. They rest, so that calls go to
 * other deployments, while other apps of the same deployment go on. Platforms refuse some inputs in the same words, so a credential
 * rests for the owner whose call was refused, and for all once it was refused to a second one as well. All times are milliseconds
 * of one monotonic clock.
 */
export class CredentialRests {
  readonly #restsMax: number
  readonly #rests = new Map<string, Rest>()
  /** By deployment and key, the oldest first. Empty nearly always. */
  readonly all: ReadonlyMap<string, unknown> = this.#rests

  constructor(restsMax = RESTS_MAX) {
    this.#restsMax = restsMax
  }

  /**
   * Lets a credential rest, for as long as the platform has requested (at most 60 s), or for 60 s. The latest request counts, even
   * if it shortens the rest.
   *
   * @param deployment - the id of the deployment
   * @param key - the key as `agentKey` finds it for the app of the call; empty if there is none
   * @param owner - whose call was refused
   */
  rest(
    deployment: string,
    key: string,
    owner: string,
    nowMs: number,
    retryAfterSeconds: number | undefined,
  ): void {
    const seconds = Math.min(retryAfterSeconds ?? REST_SECONDS, REST_SECONDS)
    const credential = credentialOf(deployment, key)
    const before = this.#rests.get(credential)
    const isOwners = before === undefined || before.untilMs <= nowMs || before.owner === owner
    // First deleted, so that it becomes the youngest.
    this.#rests.delete(credential)
    if (this.#rests.size >= this.#restsMax) this.#dropOldest()
    this.#rests.set(credential, {
      sinceMs: nowMs,
      untilMs: nowMs + seconds * 1_000,
      owner: isOwners ? owner : undefined,
    })
  }

  /**
   * Ends the rest of a credential with which an attempt has succeeded. One that began before the rest does not end it: where a
   * rate is used up, the calls that were just within it succeed while the others are refused.
   *
   * @param beganMs - when the attempt began
   */
  end(deployment: string, key: string, beganMs: number): void {
    const credential = credentialOf(deployment, key)
    const rest = this.#rests.get(credential)
    if (rest !== undefined && rest.sinceMs <= beganMs) this.#rests.delete(credential)
  }

  /** When the rest of a credential ends for the calls of an owner; undefined if it does not rest for them. */
  restUntil(deployment: string, key: string, owner: string, nowMs: number): number | undefined {
    // Every call asks, and hardly any credential rests.
    if (this.#rests.size === 0) return undefined
    const credential = credentialOf(deployment, key)
    const rest = this.#rests.get(credential)
    if (rest === undefined) return undefined
    if (rest.untilMs <= nowMs) {
      this.#rests.delete(credential)
      return undefined
    }
    return rest.owner === undefined || rest.owner === owner ? rest.untilMs : undefined
  }

  /** Forgets the rests of all credentials of a deployment, whose server is another one now. */
  forget(deployment: string): void {
    for (const credential of this.#rests.keys())
      if (credential.startsWith(credentialOf(deployment, ''))) this.#rests.delete(credential)
  }

  #dropOldest(): void {
    for (const credential of this.#rests.keys()) {
      this.#rests.delete(credential)
      return
    }
  }
}

/** Ids of deployments contain no line break, so that no two credentials are taken for one. */
function credentialOf(deployment: string, key: string): string {
  return `${deployment}\n${key}`
}
