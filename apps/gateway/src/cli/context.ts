import { text } from 'node:stream/consumers'
import { type Command, InvalidArgumentError } from 'commander'
import { type Config, loadConfig } from '#config/load.ts'
import type { CommandArguments, Command as CommandName, CommandResults } from '#process/commands.ts'

/** The settings of this process, read when a command needs them: help needs none. */
export function config(): Config {
  return loadConfig(process.env, process.cwd())
}

/** Runs a command in the running gateway or here. What runs is loaded only now. */
export async function run<Name extends CommandName>(
  name: Name,
  args: CommandArguments[Name],
): Promise<CommandResults[Name]> {
  const settings = config()
  const { runCommand } = await import('./run-command.ts')
  return runCommand(settings, name, args)
}

/** Every command that shows records has it. */
export function withJson(command: Command): Command {
  return command.option('--json', "print REST's records instead of a table")
}

export interface JsonOption {
  readonly json?: true
}

export function wholeNumber(value: string): number {
  const number = Number(value)
  // A greater one would be rounded in silence.
  if (/^\d+$/.test(value) && Number.isSafeInteger(number)) return number
  throw new InvalidArgumentError(`Expected a whole number, 0 to ${Number.MAX_SAFE_INTEGER}.`)
}

export function list(value: string): string[] {
  return value.trim() === '' ? [] : value.split(',').map((item) => item.trim())
}

export async function passwordFromStdin(): Promise<string> {
  return (await text(process.stdin)).replace(/\r?\n$/, '')
}
