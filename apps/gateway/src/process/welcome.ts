import { resolve } from 'node:path'
import type { Config } from '#config/load.ts'
import { isBuilt } from '#core/base/shipped-files.ts'

/** The administrator that this start created. The password is present only if the gateway generated it. */
export interface FirstAdmin {
  readonly username: string
  readonly password?: string
}

interface Started {
  readonly admin: FirstAdmin | undefined
  readonly hasConsole: boolean
}

/** Prints what a person needs after a start: address, account and commands to paste. Never logged, as it has a password. */
export function welcome(config: Config, { admin, hasConsole }: Started, say: (line: string) => void): void {
  const address = hasConsole ? `${config.publicUrl}/console` : config.publicUrl
  const lines = [
    '',
    `Trunkline is ready:  ${address}   (API reference: ${config.publicUrl}/docs)`,
    `Agents:              ${config.agents.map(({ id }) => id).join(', ')}${config.sandbox ? '   (sandbox: emulators on this machine)' : ''}`,
  ]
  lines.push(...(admin === undefined ? [newPassword(config)] : account(admin)))
  if (!config.production) lines.push('', ...firstChat(config, admin))
  for (const line of lines) say(line)
}

function account({ username, password }: FirstAdmin): string[] {
  const shown = password === undefined ? 'as in ADMIN_PASSWORD' : `${password}   (shown only now)`
  return [`Administrator:       ${username}`, `Password:            ${shown}`]
}

/** How people run the command line: by a script in a checkout, by the program of the package elsewhere. */
const COMMAND_LINE = isBuilt ? 'npx trunkline' : 'npx -y pnpm@12 trunkline'

/** The command reads the environment as the gateway does, but finds only the default folder of the data without it. */
function newPassword({ adminUsername, databaseUrl, dataDir }: Config): string {
  const folder = databaseUrl === undefined && dataDir !== resolve('.data') ? `DATA_DIR='${dataDir}' ` : ''
  return `To set a password:   echo '<new password>' | ${folder}${COMMAND_LINE} users set-password ${adminUsername}`
}

/** A query that the emulator answers with a question, and the answer. */
const QUESTION = { app_id: '', chat_id: 'first-question', conversation_id: 'first-question' }
const ASK = { ...QUESTION, query: 'sandbox:interactive Book the room' }
const ANSWER = { ...QUESTION, query: 'Approve' }

function firstChat(config: Config, admin: FirstAdmin | undefined): string[] {
  const agent = config.agents[0]
  if (agent === undefined) return []
  const url = config.publicUrl
  const json = "-H 'content-type: application/json'"
  const password = admin?.password ?? '<the password>'
  const expires = new Date(Date.now() + 365 * 86_400_000).toISOString().slice(0, 10)
  const body = {
    app_id: agent.apps.find((app) => app.default)?.id ?? agent.apps[0]?.id ?? 'demo',
    chat_id: 'first-chat',
    stream: true,
    detail: false,
    query: 'Hello! Who are you?',
    conversation_id: 'first-chat',
    files: [],
  }
  const ask = (id: string, asked: object) =>
    `  curl -N ${url}/api/v1/chat -H "authorization: Bearer $TRUNKLINE_API_KEY" -H 'agent: ${id}' ${json} -d '${JSON.stringify({ ...body, ...asked })}'`
  return [
    'Log in, create a key and stream a chat, by pasting:',
    '',
    `  TOKEN=$(curl -s ${url}/api/v1/login ${json} -d '${JSON.stringify({ username: admin?.username ?? config.adminUsername, password })}' | sed -E 's/.*"access_token":"([^"]+)".*/\\1/')`,
    `  TRUNKLINE_API_KEY=$(curl -s ${url}/api/v1/api-keys -H "authorization: Bearer $TOKEN" ${json} -d '${JSON.stringify({ name: 'first key', description: 'made by hand', expires_at: `${expires}T00:00:00Z`, permissions: ['chat'] })}' | sed -E 's/.*"full_key":"([^"]+)".*/\\1/')`,
    ask(agent.id, {}),
    '',
    ...(config.sandbox
      ? [
          'And one that asks you something, with the answer, which is the next query in its chat:',
          '',
          ask('dify-chatflow', ASK),
          ask('dify-chatflow', ANSWER),
          '',
        ]
      : []),
  ]
}
