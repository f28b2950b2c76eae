import { NIL } from 'uuid'
import { recorded, type Who } from '#core/audit/actor.ts'
import type { Prisma, PrismaClient } from '#generated/prisma/client.ts'
import { replaceSecret, SIGNING_KEYS, type SigningKey } from './signing-keys.ts'
import { pauseContext, type StoredSecret, type StoredSecrets } from './stored-secrets.ts'

export interface RewrittenSecrets {
  readonly rewritten: number
  /** The number of secrets that were stored like that already. */
  readonly unchanged: number
  /** The ids of signing keys and pauses that none of the configured keys reads. */
  readonly unreadable: readonly string[]
  /** Whether the secrets are encrypted now. */
  readonly encrypted: boolean
}

/** Replaces a stored secret, unless it has changed. */
type Store = (data: StoredSecret) => Prisma.PrismaPromise<number>

interface PauseSecret extends StoredSecret {
  readonly id: string
}

const PAUSES_AT_ONCE = 500

/** Stores every secret as `SECRET_KEY` asks for now: those of the signing keys, and what pauses keep. */
export async function rewriteSecrets(
  { prisma, secrets }: { readonly prisma: PrismaClient; readonly secrets: StoredSecrets },
  by: Who,
): Promise<RewrittenSecrets> {
  const done = { rewritten: 0, unchanged: 0, unreadable: [] as string[] }
  const rewrite = async (id: string, stored: StoredSecret, context: string, store: Store) => {
    const opened = openOrUndefined(secrets, stored, context)
    if (opened === undefined) done.unreadable.push(id)
    else if (opened.isCurrent) done.unchanged += 1
    else {
      // Another process may have rewritten or replaced it in the meantime, and its version stands.
      const count = await recorded(prisma, by, 'secrets.rewrite', store(secrets.seal(opened.text, context)))
      done.rewritten += count
      done.unchanged += 1 - Math.min(count, 1)
    }
  }
  for (const key of await prisma.$queryRaw<SigningKey[]>`${SIGNING_KEYS} WHERE secret <> ''`)
    await rewrite(key.id, key, key.id, (data) => replaceSecret(prisma, key, data))
  for (let after: string | undefined = NIL; after !== undefined; ) {
    const pauses: PauseSecret[] = await prisma.$queryRaw`
      SELECT id, sealed, content AS secret FROM pauses WHERE id > ${after}::uuid ORDER BY id LIMIT ${PAUSES_AT_ONCE}`
    for (const pause of pauses) {
      const replace = ({ sealed, secret }: StoredSecret) => prisma.$executeRaw`
        UPDATE pauses SET sealed = ${sealed}, content = ${secret}
        WHERE id = ${pause.id}::uuid AND content = ${pause.secret}`
      await rewrite(pause.id, pause, pauseContext(pause.id), replace)
    }
    after = pauses.at(-1)?.id
  }
  return { ...done, encrypted: secrets.encrypts }
}

function openOrUndefined(secrets: StoredSecrets, stored: StoredSecret, context: string) {
  try {
    return secrets.open(stored, context)
  } catch {
    return undefined
  }
}
