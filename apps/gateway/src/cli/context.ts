import { text } from 'node:stream/consumers'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type Config, loadConfig } from '#config/load.ts'
import { DIRECTIONS } from '#core/lists/list-order.ts'
import type { CommandArguments, Command as CommandName, CommandResult } from '#process/commands.ts'
import type { Condition, Conditions } from '#resources/define-list.ts'
import { snake } from '#resources/resource.ts'

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

/** Adds `--json` and the options that select and order the records of a list. */
export function withList(
  command: Command,
  states: readonly string[],
  fields: Readonly<Record<string, unknown>>,
): Command {
  return withJson(command)
    .addOption(new Option('--state <state>', 'only those in this state').choices(states))
    .addOption(
      new Option('--order-by <field>', 'what to order by; created_at by default').choices(
        Object.keys(fields),
      ),
    )
    .addOption(
      new Option('--order <direction>', 'the direction; names ascend by default').choices(DIRECTIONS),
    )
}

/**
 * Adds the options of the conditions of a list and of its range. A user is named by the username, since people do not know its
 * id.
 */
export function withConditions(command: Command, conditions: Conditions): Command {
  for (const [name, condition] of Object.entries(conditions)) addCondition(command, name, condition)
  return withRange(command)
}

function addCondition(command: Command, name: string, condition: Condition): void {
  const { kind, vocabulary } = condition
  const option = snake(name).replaceAll('_', '-')
  const words = vocabulary === undefined ? '' : `: ${vocabulary.words.join(', ')}`
  const text = `${lineOf(condition.description)}${words}`
  switch (kind) {
    case 'flag':
      command.option(`--${option}`, text).option(`--no-${option}`, 'the others')
      break
    case 'user':
      command.option(`--${option.replace(/-id$/, '')} <username>`, text.replace('this id', 'this username'))
      break
    case 'integer':
      command.option(`--${option} <number>`, text, wholeNumber)
      break
    case 'any of':
      command.option(`--${option} <list>`, text.replace(': ', ', separated by commas: '), list)
      break
    default:
      command.option(`--${option} <${kind === 'words' ? 'word' : kind === 'text' ? 'text' : 'id'}>`, text)
  }
}

/** A description as a line of the command line has it. */
function lineOf(description: string): string {
  return description
    .replaceAll('`', '')
    .replace(/^[A-Z]/, (letter) => letter.toLowerCase())
    .replace(/\.$/, '')
}

/** Adds the options of a range of times. */
function withRange(command: Command): Command {
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

export interface PageOptions extends JsonOption {
  readonly limit?: number
  readonly cursor?: string
}

export interface JsonOption {
  readonly json?: true
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
