import { text } from 'node:stream/consumers'
import { type Command, InvalidArgumentError } from 'commander'
import { type Config, loadConfig } from '#config/load.ts'
import type { CommandArguments, Command as CommandName, CommandResult } from '#process/commands.ts'

/** Reads the configuration. Called by the commands that need it, so that `--help` works without a valid one. */
export function config(): Promise<Config> {
  return loadConfig(process.env, process.cwd())
}

/** Runs a command in the running gateway or in this process. The code that does so is imported only now. */
export async function run<Name extends CommandName>(
  name: Name,
  args: CommandArguments<Name>,
): Promise<CommandResult<Name>> {
  const settings = await config()
  const { runCommand } = await import('#process/run-command.ts')
  return runCommand(settings, name, args)
}

/** Adds the option `--json`, which every command that shows records has. */
export function withJson(command: Command): Command {
  return command.option('--json', "print REST's records instead of a table")
}

/** Adds the options of a range of times. */
export function withRange(command: Command): Command {
  return command
    .option('--from <time>', 'ISO 8601 with a zone, or a date: the start of that day in the time zone')
    .option('--to <time>', 'the end, not included, in the same form')
    .option('--timezone <name>', 'IANA name of a time zone, such as Asia/Shanghai; UTC by default')
}

/** Adds the options of a list that is shown page by page. */
export function withPage(command: Command): Command {
  return command
    .option('--limit <count>', '1 to 100; 20 by default', wholeNumber)
    .option('--cursor <cursor>', 'the cursor after which to continue, as the previous page has printed it')
}

export interface JsonOption {
  readonly json?: true | undefined
}

/** How records are shown. */
export interface RecordOptions extends JsonOption {
  readonly columns?: readonly string[] | undefined
}

export interface PageOptions extends RecordOptions {
  readonly limit?: number
  readonly cursor?: string
}

export function wholeNumber(value: string): number {
  const number = Number(value)
  // A greater number would be rounded silently.
  if (/^\d+$/.test(value) && Number.isSafeInteger(number)) return number
  throw new InvalidArgumentError(`Expected a whole number, 0 to ${Number.MAX_SAFE_INTEGER}.`)
}

export function list(value: string): string[] {
  return value.trim() === '' ? [] : value.split(',').map((item) => item.trim())
}

export async function passwordFromStdin(): Promise<string> {
  return (await text(process.stdin)).replace(/\r?\n$/, '')
}
