import { once } from 'node:events'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { json } from 'node:stream/consumers'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { sleep } from '#core/base/async/sleep.ts'
import { OperatorError } from '#core/base/errors/operator-error.ts'
import { errorCode } from '#core/base/values/error-code.ts'

/** `operator` is the account of the operating system that sends the command. */
export type RunCommand = (command: string, args: unknown, operator: string) => Promise<unknown>
export type CommandOutcome = { running: false } | { running: true; result: unknown }

export interface CommandServer {
  /** Accepts no more commands, and waits for those that run until the timeout. */
  close(timeoutMs: number): Promise<void>
}

/**
 * Executes commands that the command line sends through a socket in the data directory, whose lock this process must hold.
 * If a command fails, the line that `describe` makes of its error is sent back.
 */
export async function serveCommands(
  dataDir: string,
  run: RunCommand,
  describe: (error: unknown) => string = messageOf,
): Promise<CommandServer> {
  const path = socketPath(dataDir)
  // The directory has one owner, so an existing socket was left behind by a process that was killed.
  await rm(path, { force: true })
  const server = createServer((req, res) => {
    markRejectionHandled(replyTo(req, run, describe).then((reply) => res.end(reply)))
  })
  await throughShortPath(path, (short) => listenPrivately(server, short))
  return {
    async close(timeoutMs) {
      if (!server.listening) return
      const closed = markRejectionHandled(once(server, 'close'))
      server.close()
      await rm(path, { force: true })
      await Promise.race([closed, sleep(timeoutMs)])
      server.closeAllConnections()
      await closed
    },
  }
}

/** The running gateway could not carry out a command; the message is the gateway's own. */
export class RemoteCommandError extends OperatorError {}

/**
 * Runs a command in the gateway that owns this data directory, if one is running.
 *
 * @throws {@link RemoteCommandError} if the command fails or the gateway does not answer
 */
export async function callRunningGateway(
  dataDir: string,
  command: string,
  args: unknown,
  operator: string,
): Promise<CommandOutcome> {
  const call = { command, args, operator }
  const reply = await throughShortPath(socketPath(dataDir), (short) => send(short, call))
  if (reply === undefined) return { running: false }
  if ('error' in reply) throw new RemoteCommandError(reply.error)
  return { running: true, result: reply.result }
}

interface Call {
  readonly command: string
  readonly args: unknown
  readonly operator: string
}

type Reply = { readonly result: unknown } | { readonly error: string }

async function replyTo(
  req: IncomingMessage,
  run: RunCommand,
  describe: (error: unknown) => string,
): Promise<string> {
  try {
    const { command, args, operator } = (await json(req)) as Call
    return JSON.stringify({ result: await run(command, args, operator) } satisfies Reply)
  } catch (error) {
    return JSON.stringify({ error: describe(error) } satisfies Reply)
  }
}

/** Returns undefined if no process listens on the socket. */
async function send(path: string, call: Call): Promise<Reply | undefined> {
  const outgoing = request({ socketPath: path, method: 'POST', agent: false })
  outgoing.end(JSON.stringify(call))
  try {
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
    return (await json(response)) as Reply
  } catch (error) {
    // ENOTDIR: the data directory is below a file, so there is no socket either.
    if (['ENOENT', 'ECONNREFUSED', 'ENOTDIR'].includes(errorCode(error) ?? '')) return undefined
    throw new RemoteCommandError('The running gateway did not answer.', { cause: error })
  }
}

async function listenPrivately(server: Server, path: string): Promise<void> {
  // The socket is bound within this tick. A chmod afterwards would leave a moment in which other users could connect.
  const umask = process.umask(0o177)
  server.listen(path)
  process.umask(umask)
  await once(server, 'listening')
}

function socketPath(dataDir: string): string {
  return join(resolve(dataDir), 'gateway.sock')
}

/** The path of a socket may have 108 bytes on Linux and 104 on macOS, so a longer one is used through a symbolic link. */
async function throughShortPath<T>(path: string, use: (path: string) => Promise<T>): Promise<T> {
  if (Buffer.byteLength(path) < 104) return use(path)
  const directory = await mkdtemp(join(tmpdir(), 'trunkline-'))
  try {
    const link = join(directory, 'data')
    await symlink(dirname(path), link)
    return await use(join(link, basename(path)))
  } finally {
    await rm(directory, { recursive: true })
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
