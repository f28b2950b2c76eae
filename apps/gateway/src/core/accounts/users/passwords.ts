import * as argon2 from '@node-rs/argon2'
import pLimit from 'p-limit'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'

/** Argon2id (the library's default) with the first set of parameters that OWASP recommends. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** A hash takes 19 MiB and one of libuv's four threads, which DNS look-ups and file access need as well. */
const CONCURRENT_HASHES_MAX = 2

export type Passwords = ReturnType<typeof createPasswords>

/** `parameters` apply to new hashes; a stored hash contains its own. */
export function createPasswords(
  parameters: typeof PARAMETERS = PARAMETERS,
  { hash, verify }: Pick<typeof argon2, 'hash' | 'verify'> = argon2,
) {
  const runQueued = pLimit(CONCURRENT_HASHES_MAX)
  const dummyHash = markRejectionHandled(hash('no password matches this hash', parameters))

  return {
    hash: (password: string): Promise<string> => runQueued(() => hash(password, parameters)),
    /** Checks a password. Without a hash, for an unknown user, it does the same work and returns false. */
    async verify(passwordHash: string | undefined, password: string): Promise<boolean> {
      const matches = await runQueued(async () => verify(passwordHash ?? (await dummyHash), password))
      return matches && passwordHash !== undefined
    },
  }
}
