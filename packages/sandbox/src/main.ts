#!/usr/bin/env node
import { parseArgs } from 'node:util'
import { type SandboxPlatform, startSandbox } from './sandbox.ts'
import { startControlServer } from './serving/control-server.ts'
import type { SandboxAgent } from './serving/start-emulator.ts'

const DEFAULT_PORTS: Readonly<Record<SandboxPlatform, number>> = {
  fastgpt: 8101,
  hiagent: 8102,
  dify: 8103,
  coze: 8104,
  openai: 8105,
}
const PLATFORMS = Object.keys(DEFAULT_PORTS) as SandboxPlatform[]
const CONTROL_PORT = 8100
/** Between the ports of the two emulators of a platform. */
const SECOND_OFFSET = 10

const HELP = `Usage: trunkline-sandbox [options]

Runs emulators of FastGPT, HiAgent, Dify, Coze and an OpenAI-compatible server until it is interrupted.

Options:
  --host <address>   the address to listen on (default: 127.0.0.1)
  --delay <ms>       the pause between two fragments of a reply (default: 15)
${PLATFORMS.map(portHelp).join('\n')}
  --second <platform>[=<port>]
                     starts a second emulator of the platform, ${SECOND_OFFSET} ports above the default one; may be repeated
  --share-state      second emulators share the conversations and files of the first ones
  --control <port>   the port of 127.0.0.1 that makes emulators fail (default: ${CONTROL_PORT})
  --help             prints this text`

const option = { type: 'string' } as const

/** Thrown with a message for the user of the command line. */
class UsageError extends Error {}

try {
  await main()
} catch (error) {
  // Anything else is a mistake of this program, whose stack is wanted.
  if (!isForUser(error)) throw error
  console.error(error.message)
  process.exitCode = 1
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      host: option,
      delay: option,
      help: { type: 'boolean' },
      fastgpt: option,
      hiagent: option,
      dify: option,
      coze: option,
      openai: option,
      second: { type: 'string', multiple: true, default: [] },
      'share-state': { type: 'boolean', default: false },
      control: option,
    },
  })
  if (values.help === true) return console.log(HELP)

  const ports = PLATFORMS.map((platform) => [
    platform,
    portOf(`--${platform}`, values[platform], DEFAULT_PORTS[platform]),
  ])
  const seconds = values.second.map(secondOf)
  const controlPort = portOf('--control', values.control, CONTROL_PORT)
  const sandbox = await startSandbox({
    ...(values.host !== undefined && { host: values.host }),
    delayMs: wholeNumber('--delay', values.delay, 15, 60_000),
    ports: Object.fromEntries(ports),
  })
  try {
    const emulators: Record<string, SandboxAgent> = { ...sandbox.agents }
    for (const { platform, port } of seconds) {
      emulators[`${platform}-2`] = await sandbox.startSecond(platform, {
        port,
        sharesState: values['share-state'],
      })
    }
    const controls = Object.entries(emulators).map(([name, { control }]) => [name, control])
    const control = await startControlServer(controlPort, Object.fromEntries(controls))
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        control.close()
        void sandbox.close()
      })
    }
    print(emulators, control.origin)
    console.log(commandsFor(sandbox.agents).join('\n\n'))
  } catch (error) {
    // Otherwise the emulators that have started would keep the process alive.
    await sandbox.close()
    throw error
  }
}

function print(emulators: Readonly<Record<string, SandboxAgent>>, controlOrigin: string): void {
  console.table(
    Object.fromEntries(
      Object.entries(emulators).map(([name, { baseUrl, apiKey, appId = '' }]) => [
        name,
        { baseUrl, apiKey, appId },
      ]),
    ),
  )
  const name = Object.keys(emulators).at(-1)
  console.log(`# Makes one of them fail; {"fault":"none"} ends it.
curl ${controlOrigin}/${name}/fail -d '{"fault":"refuse"}'\n`)
}

/** Reads `<platform>` or `<platform>=<port>`. */
function secondOf(text: string): { readonly platform: SandboxPlatform; readonly port: number } {
  const [name, port] = text.split('=', 2)
  const platform = PLATFORMS.find((each) => each === name)
  if (platform !== undefined) {
    return { platform, port: portOf('--second', port, DEFAULT_PORTS[platform] + SECOND_OFFSET) }
  }
  throw new UsageError(`--second: expected one of ${PLATFORMS.join(', ')}, but it is "${name}".`)
}

function portOf(name: string, text: string | undefined, otherwise: number): number {
  return wholeNumber(name, text, otherwise, 65_535)
}

function portHelp(platform: SandboxPlatform): string {
  const usage = `--${platform} <port>`
  return `  ${usage.padEnd(17)}  the port of ${platform}; 0 selects a free one (default: ${DEFAULT_PORTS[platform]})`
}

function wholeNumber(name: string, text: string | undefined, otherwise: number, max: number): number {
  if (text === undefined) return otherwise
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (value <= max) return value
  throw new UsageError(`${name}: expected a whole number from 0 to ${max}, but it is "${text}".`)
}

/** An option that does not exist or lacks its value, a port that is in use, an address that is not this machine's. */
function isForUser(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  return (
    error instanceof UsageError || ('code' in error && /^(ERR_PARSE_ARGS_|E[A-Z]+$)/.test(String(error.code)))
  )
}

/** A command to paste for each emulator. */
function commandsFor({
  fastgpt,
  hiagent,
  dify,
  coze,
  openai,
}: Record<SandboxPlatform, SandboxAgent>): string[] {
  return [
    curl(fastgpt, '/v1/chat/completions', {
      chatId: 'a-chat',
      stream: true,
      messages: [{ role: 'user', content: 'What is a gateway?' }],
    }),
    `# HiAgent requires a conversation: send its AppConversationID with a chat_query_v2 request.`,
    curl(hiagent, '/create_conversation', { AppKey: hiagent.apiKey, UserID: 'ada', Inputs: {} }, 'Apikey: '),
    curl(dify, '/chat-messages', {
      inputs: {},
      query: 'What is a gateway?',
      user: 'ada',
      response_mode: 'streaming',
    }),
    curl(coze, '/v3/chat', {
      bot_id: coze.appId,
      user_id: 'ada',
      stream: true,
      additional_messages: [{ role: 'user', content: 'What is a gateway?', content_type: 'text' }],
    }),
    curl(openai, '/chat/completions', {
      model: openai.appId,
      stream: true,
      messages: [{ role: 'user', content: 'What is a gateway?' }],
    }),
  ]
}

function curl(
  { baseUrl, apiKey }: SandboxAgent,
  path: string,
  body: object,
  credential = 'Authorization: Bearer ',
): string {
  return `curl -N ${baseUrl}${path} -H 'Content-Type: application/json' -H '${credential}${apiKey}' -d '${JSON.stringify(body)}'`
}
