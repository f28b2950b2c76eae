import type { Runtime } from '#core/base/runtime.ts'
import type { Sql } from '#core/database/database.ts'

const NAME = 'installation_secret'

/**
 * A random secret that is created once per installation and stored in the database. The ids under which platforms know
 * callers and conversations are derived from it.
 */
export class InstallationSecret {
  /** Undefined before {@link prepare} has finished, and nothing can be derived from it then. */
  value!: string
  readonly #deps: { readonly sql: Sql; readonly runtime: Runtime }

  constructor(deps: { readonly sql: Sql; readonly runtime: Runtime }) {
    this.#deps = deps
  }

  /** Reads the secret, and creates it on the first start. Later it writes nothing, so that commands can read a database that is read only. */
  async prepare(): Promise<void> {
    this.value = (await this.#find()) ?? (await this.#create())
  }

  async #find(): Promise<string | undefined> {
    const [row] = await this.#deps.sql.query<{ value: string }>(
      'SELECT value FROM settings WHERE name = $1',
      [NAME],
    )
    return row?.value
  }

  /** If several processes start at the same time, the first row wins and all of them read it back. */
  async #create(): Promise<string> {
    const made = this.#deps.runtime.randomBytes(32).toString('base64url')
    const text = 'INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING'
    await this.#deps.sql.query(text, [NAME, made])
    const stored = await this.#find()
    if (stored === undefined) throw new Error('the installation secret was not stored')
    return stored
  }
}
