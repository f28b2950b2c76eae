import type { Command } from 'commander'
import { type Config, ConfigError } from '#config/load.ts'
import type { Finding } from '#process/config-check/check-config.ts'
import { config, type JsonOption, withJson } from './context.ts'
import { printJson } from './output.ts'

interface CheckOptions extends JsonOption {
  readonly agents?: true
}

export function addConfigCommands(program: Command): void {
  const check = program.command('config').description('inspect the configuration').command('check')

  withJson(check)
    .description(
      'check the configuration file and the environment, and try what they name: PostgreSQL, Redis, S3, where a file is written, read and deleted, DATA_DIR and HOST; exit code 1 if anything that is needed fails',
    )
    .option('--agents', 'also ask the platform of each agent, with every configured key')
    .action(async ({ agents, json }: CheckOptions) => {
      const settings = await (json ? configOrIssues() : config())
      if (Array.isArray(settings)) return show({ findings: settings, json })
      const { checkConfig } = await import('#process/config-check/check-config.ts')
      show({ findings: await checkConfig(settings, agents === true), json, settings })
    })
}

/** The configuration, or its issues as findings. */
async function configOrIssues(): Promise<Config | Finding[]> {
  try {
    return await config()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.issues.map((message) => ({ level: 'error', subject: 'configuration', message }))
  }
}

interface Checked {
  readonly findings: readonly Finding[]
  readonly json: true | undefined
  readonly settings?: Config
}

function show({ findings, json, settings }: Checked): void {
  const errors = findings.filter(({ level }) => level === 'error').length
  if (errors > 0) process.exitCode = 1
  const agents = settings?.agents.map(({ id }) => id) ?? []
  if (json) {
    printJson({ ok: errors === 0, source: settings?.document.source ?? null, agents, findings })
    return
  }
  for (const { level, message } of findings) console.log(`${WORDS[level]}: ${message}`)
  const from = settings?.document.source ?? 'no file: sandbox mode'
  const named = settings?.sandbox ? '' : ` Agents: ${agents.join(', ')}.`
  console.log(
    errors === 0
      ? `The configuration is good (${from}).${named}`
      : `The configuration has ${errors === 1 ? 'an error' : `${errors} errors`} (${from}).`,
  )
}

const WORDS = { ok: 'OK', warning: 'Warning', error: 'Error' } as const
