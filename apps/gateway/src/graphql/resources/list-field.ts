import type { RecordList } from '#core/reports/record-list.ts'
import { showLimit } from '#http/response/show-headers.ts'
import type { Condition, Conditions, ListDefinition, RangeTexts } from '#resources/define/define-list.ts'
import type { Fields } from '#resources/define/resource.ts'
import { builder } from '../builder.ts'
import { callerOf, type GraphqlContext } from '../context.ts'
import { vocabularyEnum } from '../enum-of.ts'
import { placeInFilter } from '../mistakes/input-places.ts'
import { cursorConnection } from '../reads/ordered-connection.ts'
import { BOUNDED_COUNT } from '../reads/total-count.ts'
import { withoutNulls } from '../reads/without-nulls.ts'
import { PAGES_FORWARDS } from '../serving/pages-in-one-direction.ts'
import { HAS_OWN_LIMIT } from '../serving/read-turns-plugin.ts'
import type { Types } from './field-source.ts'
import { resourceType } from './resource-type.ts'

/** The input with the conditions of a list and its range. */
export function filterInput(name: string, description: string, conditions: Conditions, range?: RangeTexts) {
  return builder.inputType(name, {
    description: `${description} All conditions must hold.`,
    fields: (t) => conditionInputs(t, conditions, range),
  })
}

/** The conditions of a filter by core's names. */
export function conditionsIn(conditions: Conditions, filter: object | null | undefined) {
  const given = withoutNulls(filter) as Readonly<Record<string, unknown>>
  const { from, to } = given
  const each = Object.entries(conditions).map(([name, condition]) => [
    name,
    given[inputName(name, condition)],
  ])
  return { from, to, ...Object.fromEntries(each) }
}

/** The conditions of a list and its range as fields of an input, or as arguments. */
export function conditionInputs(t: InputBuilder, conditions: Conditions, range?: RangeTexts) {
  const each = Object.entries(conditions).map(([name, condition]) => [
    inputName(name, condition),
    t.field({ type: typeOf(condition), description: condition.description }),
  ])
  const ofRange = range !== undefined && {
    from: t.field({ type: 'DateTime', description: range.fromTime }),
    to: t.field({ type: 'DateTime', description: range.toTime }),
  }
  return { ...ofRange, ...Object.fromEntries(each) } as Record<string, ReturnType<typeof t.field>>
}

function inputName(name: string, { kind }: Condition): string {
  return kind === 'name' ? `${name}Id` : name
}

function typeOf({ kind, vocabulary }: Condition) {
  if (vocabulary !== undefined) {
    const word = vocabularyEnum(vocabulary)
    const several: [typeof word] = [word]
    return kind === 'any of' ? several : word
  }
  return SCALARS[kind as keyof typeof SCALARS] ?? 'String'
}

const SCALARS = { id: 'ID', user: 'ID', time: 'DateTime', integer: 'Int', flag: 'Boolean' } as const

type InputBuilder = PothosSchemaTypes.InputFieldBuilder<Types, 'Arg' | 'InputObject'>

interface ListField<Row, Input> {
  readonly name: string
  readonly description: string
  /** The name of its filter, and what that does. */
  readonly filter: readonly [name: string, description: string]
  /** What a page has, and what one item of it is. */
  readonly page: string
  readonly item: string
  readonly listOf: (context: GraphqlContext) => RecordList<Input, Row>
}

/** A field of Query with a list whose pages go forwards, and which counts its items if it is asked to. */
export function listField<Row extends { readonly cursor: string }, Input>(
  { of, conditions, range }: ListDefinition<Row, Fields> & { readonly range: RangeTexts },
  { name, description, filter: [filterName, filterDescription], page, item, listOf }: ListField<Row, Input>,
): void {
  const type = resourceType(of)
  const filterType = filterInput(filterName, filterDescription, conditions, range)
  const connection = builder.connectionObject(
    {
      type,
      name: `${of.name}Connection`,
      extensions: PAGES_FORWARDS,
      description: `A page of ${page}.`,
      fields: (t) => ({ totalCount: t.int(BOUNDED_COUNT) }),
    },
    { name: `${of.name}Edge`, description: `${item} and its place in the list.` },
  )
  builder.queryField(name, (t) =>
    t.connection(
      {
        type,
        extensions: HAS_OWN_LIMIT,
        nullable: true,
        description,
        args: {
          filter: t.arg({ type: filterType, description: filterDescription }),
          timezone: t.arg.string({ required: true, defaultValue: 'UTC', description: range.timezoneName }),
        },
        resolve(_root, { filter, timezone, ...page }, context, info) {
          const { signal } = context
          const list = listOf(context)
          const input = { ...conditionsIn(conditions, filter), timezone } as Input
          const onLimit = showLimit(context.reply)
          return cursorConnection(page, info, {
            read: (query) => list.list(callerOf(context), input, query, onLimit, signal),
            count: () => list.count(callerOf(context), input, onLimit, signal).catch(placeInFilter),
          })
        },
      },
      connection,
    ),
  )
}
