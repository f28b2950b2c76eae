import { hash, verify } from '@node-rs/argon2'
import pLimit from 'p-limit'
import { handled } from '#core/handled.ts'

/** Argon2id (the library's default) with the parameters that OWASP recommends first. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Each holds 19 MiB and one of libuv's four threads, which name look-ups and files need as well. */
const AT_ONCE = 2

export interface Passwords {
  hash(password: string): Promise<string>
  /** Without a hash, for a user that does not exist, it takes the same time and says no. */
  verify(passwordHash: string | undefined, password: string): Promise<boolean>
}

/** `parameters` are those of new hashes; a stored hash carries its own. */
export function createPasswords(parameters: typeof PARAMETERS = PARAMETERS): Passwords {
  const inTurn = pLimit(AT_ONCE)
  const nobody = handled(hash('no password matches this hash', parameters))

  return {
    hash: (password) => inTurn(() => hash(password, parameters)),
    async verify(passwordHash, password) {
      const matches = await inTurn(async () => verify(passwordHash ?? (await nobody), password))
      return matches && passwordHash !== undefined
    },
  }
}
