import type { PrismaObjectRef } from '@pothos/plugin-prisma'
import type PrismaTypes from '#generated/pothos.ts'
import type { Fields, Resource, View } from '#resources/define/resource.ts'
import { builder } from '../builder.ts'
import type { FieldBuilder, Types } from './field-source.ts'
import { Node } from './node.ts'
import { resourceFields } from './resource-type.ts'

type Models = Pick<PrismaTypes, 'ApiKey' | 'Call' | 'Upload' | 'User'>
interface Id {
  readonly id: string
}

/**
 * The type of a resource whose rows Prisma reads, with the columns that an operation selects and no others. `node` finds it by
 * its id. Fields that only GraphQL has are added to it.
 */
export function prismaResource<Name extends keyof Models>(
  model: Name,
  { description, fields: { id: _ofNode, ...fields } }: Resource<Models[Name]['Shape'], Fields, View>,
): PrismaObjectRef<Types, Models[Name], Id> {
  // The compiler cannot see the fields of a model whose name is a parameter; they are those of any model with an id.
  const type = builder.prismaObject(model as 'User', {
    description,
    interfaces: [Node],
    select: { id: true },
    findUnique: ({ id }) => ({ id }),
    fields: (t) => resourceFields(t as unknown as FieldBuilder<object>, { name: model, fields }, model),
  })
  return type as unknown as PrismaObjectRef<Types, Models[Name], Id>
}
