import { InstallationSecret } from '#core/accounts/auth/installation-secret.ts'
import {
  createSigningKeyAdministration,
  type SigningKeyAdministration,
} from '#core/accounts/auth/signing-key-administration.ts'
import { createTokens, type Tokens } from '#core/accounts/auth/tokens.ts'
import { createRememberedKeys, type RememberedKeys } from '#core/accounts/keys/key-limits.ts'
import type { Surroundings } from './surroundings.ts'

export interface AccountParts {
  readonly tokens: Tokens
  readonly signingKeys: SigningKeyAdministration
  readonly rememberedKeys: RememberedKeys
  readonly secret: InstallationSecret
}

export function buildAccounts({ config, database, runtime }: Surroundings): AccountParts {
  const { prisma, sql, lanes } = database
  const { secretKey, secretKeyPrevious } = config
  const signingKeysDeps = { prisma, runtime, secretKey, secretKeyPrevious }
  return {
    tokens: createTokens({ ...signingKeysDeps, config: config.tokens }),
    signingKeys: createSigningKeyAdministration(signingKeysDeps, config.tokens),
    rememberedKeys: createRememberedKeys({ sql: lanes.keys, runtime }),
    secret: new InstallationSecret({ sql, runtime }),
  }
}
