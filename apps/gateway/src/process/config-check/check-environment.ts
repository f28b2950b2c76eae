import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, isIP } from 'node:net'
import type { Config } from '#config/load.ts'
import { errorCode } from '#core/base/values/error-code.ts'
import { bounded, type Finding, findingsOf } from './finding.ts'

/** A name server may not answer. */
const WITHIN_MS = 5_000
/** What is open beside the connections of clients and the calls to platforms: the database, Redis, storage, files and the log. */
const OTHER_FILES = 256

const { warning, error } = findingsOf('environment')

/** What the gateway starts with although it is probably not meant. */
export interface DoubtfulSetting {
  /** The variable or setting that the operator should look at. */
  readonly name: string
  readonly problem: string
}

/** Reports what is doubtful, and whether the address in `HOST` is one of this machine. */
export async function checkEnvironment(config: Config): Promise<readonly Finding[]> {
  const doubtful = doubtfulSettings(config).map(({ name, problem }) => warning(`${name}: ${problem}`))
  return [...doubtful, ...(await checkHost(config.host))]
}

/**
 * Lists what `config check` and the log of the start warn of.
 *
 * @param filesMax - how many files the process may have open
 */
export function doubtfulSettings(config: Config, filesMax: number = openFilesMax()): DoubtfulSetting[] {
  const misspelt = config.misspeltVariables.map(({ name, meant }) => ({
    name,
    problem: `is not read; did you mean ${meant}?`,
  }))
  return [
    ...misspelt,
    ...exposedSandbox(config),
    ...exposedSettings(config),
    ...missingFiles(config, filesMax),
  ]
}

/** A sandbox is for the machine on which it runs. */
function exposedSandbox({ sandbox, host }: Config): DoubtfulSetting[] {
  if (!sandbox || isLoopback(host)) return []
  const problem = `is ${host}, so that the network reaches this sandbox, whose agents and commands are publicly known`
  return [{ name: 'HOST', problem }]
}

/** Only where others reach the gateway: a developer's machine needs none of these. */
function exposedSettings(config: Config): DoubtfulSetting[] {
  const { production, host, port, publicUrl, opsPort, secretKey } = config
  if (!production || isLoopback(host)) return []
  const found: DoubtfulSetting[] = []
  if (secretKey === undefined) {
    const problem =
      'is not set, so the keys that sign access tokens, and kept replies, are stored unencrypted'
    found.push({ name: 'SECRET_KEY', problem })
  }
  if (isLoopback(new URL(publicUrl).hostname)) {
    const problem = `is ${publicUrl}, where clients and platforms on other machines do not reach the gateway`
    found.push({ name: 'PUBLIC_URL', problem })
  }
  if (opsPort === undefined) {
    found.push({ name: 'OPS_PORT', problem: `is not set, so /metrics is public at port ${port}` })
  }
  return found
}

function missingFiles({ connectionsMax, chat }: Config, filesMax: number): DoubtfulSetting[] {
  const needed = connectionsMax + chat.inFlightMax + OTHER_FILES
  if (needed <= filesMax) return []
  const problem = `with chat.inFlightMax it needs ${needed} open files, and the process may have ${filesMax} (ulimit -n)`
  return [{ name: 'connectionsMax', problem }]
}

/** Node has raised it to the hard limit at its start. Infinity if there is none, or if this is not Linux. */
function openFilesMax(): number {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return Number(soft ?? Number.POSITIVE_INFINITY)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** The start would fail with the same words. The port is another one, because a gateway may be running already. */
async function checkHost(host: string): Promise<readonly Finding[]> {
  const server = createServer()
  async function check(): Promise<readonly Finding[]> {
    await once(server.listen({ host, port: 0 }), 'listening')
    return []
  }
  const findings = await bounded(WITHIN_MS, check(), (reason, cause) =>
    error(`HOST: cannot listen on ${host}: ${UNUSABLE[errorCode(cause) ?? ''] ?? reason}.`),
  )
  server.close()
  return findings
}

const UNUSABLE: Readonly<Record<string, string>> = {
  EADDRNOTAVAIL: 'it is no address of this machine',
  ENOTFOUND: 'there is no such name',
  EAI_AGAIN: 'its name cannot be looked up',
}

function isLoopback(host: string): boolean {
  return (
    host === 'localhost' ||
    host === '::1' ||
    host === '[::1]' ||
    (isIP(host) === 4 && host.startsWith('127.'))
  )
}
