import { type Command, Option } from 'commander'
import { DIRECTIONS, type OrderFields } from '#core/lists/list-order.ts'
import type { CommandArguments, Command as CommandName, CommandResult } from '#process/commands.ts'
import { inKebabCase } from '#process/refusal-line.ts'
import { type Condition, type Selection, usernameOptions } from '#resources/define-list.ts'
import { list, type PageOptions, run, withJson, withPage, withRange } from './context.ts'
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

/** Adds the options of a list that has several orders. */
export function withOrder(command: Command, fields: OrderFields<string>): Command {
  return command
    .addOption(
      new Option('--order-by <field>', 'what to order by; created_at by default').choices(
        Object.keys(fields),
      ),
    )
    .addOption(
      new Option('--order <direction>', 'the direction; names ascend by default').choices(DIRECTIONS),
    )
}

/** Adds an option for each condition of a list, and those of its range of times. */
export function withConditions(command: Command, definition: Selection): Command {
  const usernames = usernameOptions(definition)
  if (definition.range !== undefined) withRange(command)
  for (const [name, condition] of Object.entries(definition.conditions)) {
    command.addOption(optionOf(name, condition, usernames.get(name)))
  }
  return command
}

function optionOf(name: string, { kind, description, vocabulary }: Condition, username?: string): Option {
  const phrase = description.charAt(0).toLowerCase() + description.slice(1).replace(/\.$/, '')
  if (username !== undefined)
    return new Option(`--${inKebabCase(username)} <username>`, phrase.replace('with this id', 'of this name'))
  const option = new Option(`--${inKebabCase(name)} <${VALUES[kind]}>`, phrase)
  return vocabulary === undefined ? option : option.choices(vocabulary.words)
}

const VALUES = { id: 'id', name: 'id', text: 'text', words: 'word' } as const
