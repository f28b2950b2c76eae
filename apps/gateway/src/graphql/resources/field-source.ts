import type { FieldRef } from '@pothos/core'
import type { builder } from '../builder.ts'
import type { GraphqlContext } from '../context.ts'

export type Types = typeof builder.$inferSchemaTypes
export type FieldBuilder<Row> = PothosSchemaTypes.ObjectFieldBuilder<Types, Row>
export type FieldRefs = Record<string, FieldRef<Types>>

/** Where the value of a field comes from. */
export interface FieldSource<Row> {
  /** The Prisma model of the row; absent for a row that core gives as a whole. */
  readonly model: string | undefined
  readonly columns: readonly string[]
  /** The option by which Prisma reads the columns. */
  readonly reading: { readonly select?: Readonly<Record<string, true>> }
  read<Value>(row: Row, context: GraphqlContext): Value | null
}
