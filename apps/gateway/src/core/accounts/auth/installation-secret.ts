import type { Runtime } from '#core/base/runtime.ts'
import type { PrismaClient } from '#generated/prisma/client.ts'

/**
 * A random secret that is created once per installation and stored in the database. The ids under which platforms know
 * callers and conversations are derived from it.
 */
export type InstallationSecret = ReturnType<typeof createInstallationSecret>

const NAME = 'installation_secret'

export function createInstallationSecret({ prisma, runtime }: { prisma: PrismaClient; runtime: Runtime }) {
  let value: string | undefined
  return {
    /** Reads the secret, and creates it on the first start. */
    async prepare(): Promise<void> {
      // If several processes start at the same time, the first row wins and all of them read it back.
      await prisma.setting.createMany({
        data: [{ name: NAME, value: runtime.randomBytes(32).toString('base64url') }],
        skipDuplicates: true,
      })
      const row = await prisma.setting.findUniqueOrThrow({ where: { name: NAME } })
      value = row.value
    },
    /** @throws Error before {@link prepare} has finished */
    get value(): string {
      if (value === undefined) throw new Error('the installation secret has not been read yet')
      return value
    },
  }
}
