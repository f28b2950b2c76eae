import { type Command, Option } from 'commander'
import { DIRECTIONS } from '#core/lists/list-order.ts'
import type { CommandArguments, Command as CommandName, CommandResult } from '#process/commands.ts'
import { inKebabCase } from '#process/refusal-line.ts'
import {
  type Condition,
  type OrderedListDefinition,
  type Selection,
  usernameOptions,
} from '#resources/define/define-list.ts'
import { list, type PageOptions, run, wholeNumber, withJson, withPage, withRange } from './context.ts'
import { printJson, printRecords, type Shown } from './output.ts'

/** The lists that are read page by page. */
type PagedList = {
  [Name in CommandName]: CommandResult<Name> extends { readonly nextCursor: unknown } ? Name : never
}[CommandName]
type Row<Name extends PagedList> = CommandResult<Name>['items'][number]

/** Makes a command that shows a list page by page: its options are the conditions of the definition. */
export function addPagedList<Name extends PagedList>(
  command: Command,
  name: Name,
  definition: Selection,
  shown: Shown<Row<Name>>,
): Command {
  return withPage(withConditions(withRecords(command), definition)).action(
    async ({ json, columns, ...args }: PageOptions) => {
      const { items, nextCursor } = await run(name, args as CommandArguments<Name>)
      if (json) printJson({ items, next_cursor: nextCursor })
      else printRecords<Row<Name>>(items, { columns }, shown)
      if (!json && nextCursor !== null) console.log(`More: --cursor ${nextCursor}`)
    },
  )
}

/** Adds the options that say how records are shown. */
export function withRecords(command: Command): Command {
  return withJson(command).option('--columns <list>', 'fields to show, separated by commas, or all', list)
}

/** Adds the options of a list whose order is chosen. */
export function withOrder(command: Command, { orders }: Pick<OrderedListDefinition, 'orders'>): Command {
  const [first] = orders.vocabulary.words
  return command
    .addOption(
      new Option('--order-by <field>', `what to order by; ${first} by default`).choices(
        orders.vocabulary.words,
      ),
    )
    .addOption(new Option('--order <direction>', phraseOf(orders.texts.order)).choices(DIRECTIONS))
}

/** Adds an option for each condition of a list, and those of its range of times. */
export function withConditions(command: Command, definition: Selection): Command {
  const usernames = usernameOptions(definition)
  if (definition.range !== undefined) withRange(command)
  for (const [name, condition] of Object.entries(definition.conditions)) {
    for (const option of optionsOf(inKebabCase(usernames.get(name) ?? name), condition))
      command.addOption(option)
  }
  return command
}

function optionsOf(name: string, { kind, description, vocabulary }: Condition): Option[] {
  const phrase = phraseOf(description)
  const words = vocabulary?.words ?? []
  switch (kind) {
    case 'flag':
      return [new Option(`--${name}`, phrase), new Option(`--no-${name}`, 'only the others')]
    case 'user':
      return [new Option(`--${name} <username>`, phrase.replace('with this id', 'of this name'))]
    case 'integer':
      return [new Option(`--${name} <number>`, phrase).argParser(wholeNumber)]
    case 'any of':
      return [
        new Option(`--${name} <list>`, `${phrase}, separated by commas: ${words.join(', ')}`).argParser(list),
      ]
    case 'words':
      return [new Option(`--${name} <word>`, phrase).choices(words)]
    default:
      return [new Option(`--${name} <${kind === 'name' ? 'id' : kind}>`, phrase)]
  }
}

/** A description as help has it. */
function phraseOf(description: string): string {
  return description.charAt(0).toLowerCase() + description.slice(1).replace(/\.$/, '')
}
