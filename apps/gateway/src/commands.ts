import type { Database } from '#core/database/database.ts'
import { exportDatabase } from '#core/database/export.ts'
import type { Permission, Principal, Role } from '#core/principal.ts'
import type { Services } from '#core/services.ts'
import type { NewUser } from '#core/users/users.ts'

/** What the command line can do, in the process that owns the database or in one of its own. Arguments travel as JSON. */
export interface CommandArguments {
  'users create': {
    username: string
    password: string
    role?: Role | undefined
    maxApiCalls?: number | undefined
    quotaPeriod?: NewUser['quotaPeriod']
  }
  'users list': Record<string, never>
  'users set-password': { username: string; password: string }
  'users suspend': { username: string }
  'keys create': {
    owner: string
    name: string
    description: string
    expiresAt: string
    permissions: Permission[]
    allowedAgents?: string[] | undefined
  }
  'keys list': Record<string, never>
  'keys revoke': { id: string }
  'usage verify': Record<string, never>
  /** The path is absolute: the process that writes may have been started elsewhere. */
  'db export': { file: string }
}

export type Command = keyof CommandArguments

type Commands = { [Name in Command]: (args: CommandArguments[Name]) => Promise<unknown> }

/** Whoever can reach the socket or the database is an administrator; what they make belongs to the user they name. */
export function createCommands({
  users,
  keys,
  usage,
  database,
}: Pick<Services, 'users' | 'keys' | 'usage'> & { database: Database }): (
  name: string,
  args: unknown,
) => Promise<unknown> {
  const commands: Commands = {
    'users create': (args) => users.create(operator(), args),
    'users list': () => all((cursor) => users.list(operator(), { limit: 100, cursor })),
    'users set-password': async ({ username, password }) => {
      const { id } = await users.find(operator(), username)
      return users.setPassword(operator(), id, password)
    },
    'users suspend': async ({ username }) => {
      const { id } = await users.find(operator(), username)
      return users.update(operator(), id, { status: 'suspended' })
    },
    'keys create': async ({ owner, ...key }) => {
      const { id } = await users.find(operator(), owner)
      return keys.create(operator(id), key)
    },
    'keys list': () => all((cursor) => keys.list(operator(), { limit: 100, cursor })),
    'keys revoke': ({ id }) => keys.revoke(operator(), id),
    'usage verify': () => usage.verify('all'),
    'db export': ({ file }) => exportDatabase(database, file),
  }
  return async (name, args) => {
    if (!Object.hasOwn(commands, name)) throw new Error(`unknown command: ${name}`)
    return commands[name as Command](args as never)
  }
}

const NOBODY = '00000000-0000-0000-0000-000000000000'

function operator(userId = NOBODY): Principal {
  return { userId, role: 'admin', via: { kind: 'token', tokenId: NOBODY, expiresAt: new Date(0) } }
}

async function all<Item>(
  read: (cursor: string | undefined) => Promise<{ items: readonly Item[]; nextCursor: string | null }>,
): Promise<Item[]> {
  const items: Item[] = []
  let cursor: string | undefined
  do {
    const page = await read(cursor)
    items.push(...page.items)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return items
}
