import type { PrismaClient } from '#generated/prisma/client.ts'
import type { Runtime } from './runtime.ts'

/** A secret of this installation, made once and kept in the database: from it callers' ids at platforms are derived. */
export interface InstallationSecret {
  prepare(): Promise<void>
  /** Throws before {@link prepare}. */
  readonly value: string
}

const NAME = 'installation_secret'

export function createInstallationSecret({
  prisma,
  runtime,
}: {
  prisma: PrismaClient
  runtime: Runtime
}): InstallationSecret {
  let value: string | undefined
  return {
    async prepare() {
      // Processes that start together agree: the first row stands.
      await prisma.setting.createMany({
        data: [{ name: NAME, value: runtime.randomBytes(32).toString('base64url') }],
        skipDuplicates: true,
      })
      const row = await prisma.setting.findUniqueOrThrow({ where: { name: NAME } })
      value = row.value
    },
    get value() {
      if (value === undefined) throw new Error('the installation secret has not been read yet')
      return value
    },
  }
}
