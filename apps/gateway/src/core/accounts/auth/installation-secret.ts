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

  const find = async () => (await prisma.setting.findUnique({ where: { name: NAME } }))?.value

  /** If several processes start at the same time, the first row wins and all of them read it back. */
  async function create(): Promise<string | undefined> {
    const data = [{ name: NAME, value: runtime.randomBytes(32).toString('base64url') }]
    await prisma.setting.createMany({ data, skipDuplicates: true })
    return find()
  }

  return {
    /** Reads the secret, and creates it on the first start. Later it writes nothing, so that commands can read a database that is read only. */
    async prepare(): Promise<void> {
      value = (await find()) ?? (await create())
    },
    /** @throws Error before {@link prepare} has finished */
    get value(): string {
      if (value === undefined) throw new Error('the installation secret has not been read yet')
      return value
    },
  }
}
