import type { ConfigurationFile } from '#composition/gateway.ts'
import { type Config, type ConfigDocument, ConfigError, loadConfig, parseDocument } from '#config/load.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { askPrimary, send } from '#ops/cluster/ask-primary.ts'
import { isMessage, type PrimaryMessage } from '#ops/cluster/messages.ts'

/**
 * Reads the configuration file anew, with the environment of the start.
 *
 * @param running - the configuration with which the process has started
 * @throws ConfigError with everything that is wrong
 */
export async function readAnew(running: Pick<Config, 'sandbox' | 'platforms'>): Promise<Config> {
  if (running.sandbox)
    throw new ConfigError(['GATEWAY_CONFIG: the gateway runs the sandbox agents; a file needs a restart'])
  const config = await loadConfig(process.env, process.cwd(), running.platforms)
  if (config.sandbox) throw new ConfigError(['GATEWAY_CONFIG: the file is not there any more'])
  return config
}

/** The file of a process that has no workers. */
export function ownFile(running: Config): ConfigurationFile {
  return {
    async read() {
      try {
        return await readAnew(running)
      } catch (error) {
        throw error instanceof ConfigError ? invalid(error.issues, error) : error
      }
    },
    share: () => undefined,
    onShared: () => undefined,
  }
}

/** The file of a worker, which its primary reads for all of them. */
export function primarysFile(running: Config): ConfigurationFile {
  const parse = (document: unknown) =>
    parseDocument(document as ConfigDocument, process.env, process.cwd(), running.platforms)
  return {
    async read() {
      const answer = await askPrimary('configuration', (id) => ({ kind: 'configuration?', id, isAnew: true }))
      if (answer.issues.length > 0) throw invalid(answer.issues)
      return parse(answer.document)
    },
    share: ({ document }) => void markRejectionHandled(send({ kind: 'served', document })),
    onShared(listener) {
      shared.take = (document) => listener(parse(document))
      if (shared.missed !== undefined) shared.take(shared.missed)
    },
  }
}

/** What siblings have shared while this worker started. */
const shared: { take?: (document: unknown) => void; missed?: unknown } = {}

/** In a worker: the configuration that its siblings serve, which may be another one than the file has by now. */
export async function configOfPrimary(): Promise<Config> {
  process.on('message', (message: unknown) => {
    if (!isMessage<PrimaryMessage, 'serve'>('serve', message)) return
    if (shared.take === undefined) shared.missed = message.document
    else shared.take(message.document)
  })
  const { document } = await askPrimary('configuration', (id) => ({
    kind: 'configuration?',
    id,
    isAnew: false,
  }))
  return parseDocument(document as ConfigDocument, process.env, process.cwd())
}

function invalid(issues: readonly string[], cause?: Error): Problem {
  return new Problem('configuration_invalid', { detail: issues.join('; '), cause })
}
