import type { ObjectRef } from '@pothos/core'
import type { GraphQLResolveInfo } from 'graphql'
import { getDatamodel } from '#generated/pothos.ts'
import type { Field, Kind } from '#resources/define/resource.ts'
import { callerOf, type GraphqlContext } from '../context.ts'
import { relatedQuery } from '../reads/related-query.ts'
import type { FieldBuilder, FieldRefs, FieldSource, Types } from './field-source.ts'

interface Link {
  /** The name of the type, since types lead to each other. */
  readonly type: string
  load(id: string, context: GraphqlContext, info: GraphQLResolveInfo): Promise<object | null>
  /** Whether the caller may see a row that was read as a relation, and the columns that this takes. */
  readonly relation?: {
    readonly select: Readonly<Record<string, true>>
    isVisible(row: never, context: GraphqlContext): boolean
  }
}

/** What the ids of these kinds lead to. */
const LINKS: Partial<Record<Kind, Link>> = {
  key: {
    type: 'ApiKey',
    load: (id, context, info) => context.loaders.key(id, relatedQuery(context, info)),
    relation: {
      select: { id: true, ownerId: true, createdById: true },
      isVisible: (key, context) => context.services.keys.isVisibleTo(callerOf(context), key),
    },
  },
  user: {
    type: 'User',
    load: (id, context, info) => context.loaders.user(id, relatedQuery(context, info)),
    relation: {
      select: { id: true },
      isVisible: (user, context) => context.services.users.isVisibleTo(callerOf(context), user),
    },
  },
  call: {
    type: 'Call',
    load: (id, context, info) => context.loaders.call(id, relatedQuery(context, info)),
  },
  agent: { type: 'Agent', load: (id, { loaders }) => loaders.agent(id) },
}

/** The object to which an id leads, if the caller may see it; nothing for a field that is no such id. */
export function linkedObject<Row extends object>(
  t: FieldBuilder<Row>,
  name: string,
  { kind, object = '' }: Field,
  source: FieldSource<Row>,
): FieldRefs {
  const link = LINKS[kind]
  if (link === undefined) return {}
  const options = {
    type: link.type as unknown as ObjectRef<Types, object>,
    nullable: true,
    description: object,
  } as const
  const relation = source.model && link.relation && relationOf(source.model, source.columns)
  return {
    [name]:
      relation === undefined
        ? t.field({
            ...options,
            ...source.reading,
            resolve(row, _args, context, info) {
              const id = source.read<string>(row, context)
              return id === null ? null : link.load(id, context, info)
            },
          })
        : t.field({ ...options, ...readWithRow(relation, link.relation) }),
  }
}

/** Prisma cannot filter a relation to one row, so that it is read first. */
function readWithRow(relation: string, link: Link['relation']) {
  return {
    select: (_args: object, _context: object, nested: (selection?: object) => object) => ({
      [relation]: nested({ select: link?.select }),
    }),
    resolve(row: object, _args: object, context: GraphqlContext): object | null {
      const related = row[relation as keyof typeof row]
      return link?.isVisible(related, context) ? related : null
    },
  }
}

const { models } = getDatamodel().datamodel

/** The relation of a model that is found by these columns. */
function relationOf(model: string, [column]: readonly string[]): string | undefined {
  const fields = models[model]?.fields ?? []
  return fields.find(
    (field) => field.kind === 'object' && column !== undefined && field.relationFromFields?.includes(column),
  )?.name
}
