import type { Runtime } from '#core/base/runtime.ts'
import type { Sql } from '#core/database/database.ts'

/**
 * A random secret that is created once per installation and stored in the database. The ids under which platforms know
 * callers and conversations are derived from it.
 */
export type InstallationSecret = ReturnType<typeof createInstallationSecret>

const NAME = 'installation_secret'

export function createInstallationSecret({ sql, runtime }: { sql: Sql; runtime: Runtime }) {
  let value: string | undefined

  async function find(): Promise<string | undefined> {
    const [row] = await sql.query<{ value: string }>('SELECT value FROM settings WHERE name = $1', [NAME])
    return row?.value
  }

  /** If several processes start at the same time, the first row wins and all of them read it back. */
  async function create(): Promise<string | undefined> {
    const made = runtime.randomBytes(32).toString('base64url')
    await sql.query('INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING', [NAME, made])
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
