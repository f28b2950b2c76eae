import { Command } from 'commander'
import { oneLine } from '#process/refusal-line.ts'
import manifest from '../../../../packages/trunkline/package.json' with { type: 'json' }
import { addAgentsCommand } from './agents.ts'
import { addAuditCommands } from './audit.ts'
import { addConfigCommands } from './config-check.ts'
import { addDatabaseCommands } from './database.ts'
import { addEndUserCommands } from './end-users.ts'
import { addHealthCommand } from './health.ts'
import { addKeyCommands } from './keys.ts'
import { addProcessesCommands } from './processes.ts'
import { addRefusalCommands } from './refusals.ts'
import { addSecretCommands } from './secrets.ts'
import { addGatewayCommands } from './start.ts'
import { addUploadCommands } from './uploads.ts'
import { addCallCommands, addUsageCommands } from './usage.ts'
import { addUserCommands } from './users.ts'

/**
 * Creates the command line. Each command imports the code that it runs, so that help and errors in the configuration are
 * shown without the time to load the whole gateway.
 */
export function createProgram(): Command {
  const program = new Command('trunkline')
    .description('One HTTP interface in front of several AI agent platforms.')
    .version(manifest.version, '--version', 'print the version')
    .configureOutput({
      outputError: (text, write) => write(`${oneLine(text)} (see --help)\n`),
    })
    .addHelpText(
      'after',
      `
Configuration: gateway.config.yaml (or the file that GATEWAY_CONFIG names) and the environment; see docs/configuration.md.
Commands reach a running gateway through its socket in DATA_DIR, or open the database themselves.`,
    )
  addGatewayCommands(program)
  addConfigCommands(program)
  addHealthCommand(program)
  addAgentsCommand(program)
  addDatabaseCommands(program)
  addUserCommands(program)
  addKeyCommands(program)
  addUsageCommands(program)
  addCallCommands(program)
  addEndUserCommands(program)
  addRefusalCommands(program)
  addProcessesCommands(program)
  addUploadCommands(program)
  addSecretCommands(program)
  addAuditCommands(program)
  return program
}
