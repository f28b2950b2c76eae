import { createProgram } from '../apps/gateway/src/cli/program.ts'
import { markdownTable } from './generated-parts.ts'

type Command = ReturnType<typeof createProgram>
type Argument = Command['registeredArguments'][number]

/** Returns the generated part of docs/command-line.md: every command, with its arguments and options. */
export function commandReference(): Record<string, string> {
  return { commands: createProgram().commands.map(groupReference).join('\n\n') }
}

function groupReference(command: Command): string {
  if (command.commands.length === 0) return oneCommand(command, '##')
  const commands = command.commands.map((inner) => oneCommand(inner, '###'))
  return [`## \`${nameOf(command)}\``, sentence(command.description()), ...commands].join('\n\n')
}

function oneCommand(command: Command, level: string): string {
  const rows = [
    ...command.registeredArguments.map((argument) => [
      `\`${placeholder(argument)}\``,
      '',
      describe(argument.description, argument.argChoices),
    ]),
    ...optionsOf(command).map(({ flags, mandatory, defaultValue, description, argChoices }) => [
      `\`${flags}\``,
      mandatory ? '**required**' : inCode(defaultValue),
      describe(description, argChoices),
    ]),
  ]
  const table = markdownTable(['Argument or option', 'Default', 'Description'], rows)
  const words = [nameOf(command), ...command.registeredArguments.map(placeholder)]
  const heading = `${level} \`${words.join(' ')}\``
  return [heading, sentence(command.description()), ...(rows.length > 0 ? [table] : [])].join('\n\n')
}

/** `trunkline users create` */
function nameOf(command: Command): string {
  const parent = command.parent
  return parent === null ? command.name() : `${nameOf(parent)} ${command.name()}`
}

/** Every command that prints records has these, so the page says once what they do. */
function optionsOf({ options }: Command): Command['options'] {
  return options.filter(({ long }) => long !== '--json' && long !== '--columns')
}

function placeholder(argument: Argument): string {
  return argument.required ? `<${argument.name()}>` : `[${argument.name()}]`
}

function describe(description: string, choices: readonly string[] | undefined): string {
  const values = choices === undefined ? '' : `one of ${choices.map(inCode).join(', ')}`
  return sentence([description, values].filter((text) => text !== '').join(': '))
}

/** Help is written in phrases, as command lines do; a page has sentences. */
function sentence(phrase: string): string {
  return phrase === '' ? '' : `${phrase.charAt(0).toUpperCase()}${phrase.slice(1)}.`
}

function inCode(value: unknown): string {
  return value === undefined || value === '' ? '' : `\`${value}\``
}
