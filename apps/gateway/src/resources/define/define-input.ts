import type { FastifyRequest } from 'fastify'
import Type, { type TObject, type TProperties, type TSchema } from 'typebox'
import { isObject } from '#core/base/values/json.ts'
import type { OnLimit } from '#core/limits/limits.ts'
import type { Principal } from '#core/requests/principal.ts'
import { callerOf } from '#http/guards/credentials.ts'
import { bodySchema } from '#http/request/body-schema.ts'
import type { SoundRequest } from '#http/request/validation.ts'
import * as schemas from '#http/response/schemas.ts'
import { plainSchema } from './define-resource.ts'
import { type Field, snake } from './resource.ts'
import { meaningsOf } from './vocabulary.ts'

/** A field of what callers send: one of a resource, and what a schema can say of it. Core's rules know more. */
export interface InputField<Value = unknown> extends Field<Value> {
  readonly rules?: Readonly<Partial<Record<Rule, number>>>
  /** GraphQL may leave out what is required and may be null, which is null. */
  readonly isRequired?: true
  /** What an absent field stands for. */
  readonly byDefault?: string
  readonly form?: Input
}

type Rule = 'minLength' | 'maxLength' | 'minimum' | 'maximum' | 'maxItems'

export type InputFields = Readonly<Record<string, InputField>>

export function required<Value>(field: InputField<Value>) {
  return { ...field, isRequired: true } as const
}
/** The field within the bounds of its rules. */
export function within<Value>(field: InputField<Value>, rules: InputField['rules'] & {}): InputField<Value> {
  return { ...field, rules }
}
/** @param word - one of the vocabulary, which an absent field stands for */
export function byDefault<Value extends string>(field: InputField<Value>, word: Value): InputField<Value> {
  return { ...field, byDefault: word }
}
/** An object within a form. */
export function form<Of extends InputFields>(of: Input<Of>, description: string): InputField<GivenOf<Of>> {
  return { kind: 'object', description, isNullable: false, form: of }
}

type RequiredOf<Of> = {
  [Name in keyof Of]: Of[Name] extends { readonly isRequired: true } ? Name : never
}[keyof Of]
type ValueOf<Given> = Given extends InputField<infer Value> ? Value : never

/** What was sent, by core's names. */
export type GivenOf<Of extends InputFields> = {
  readonly [Name in RequiredOf<Of>]: ValueOf<Of[Name]>
} & { readonly [Name in Exclude<keyof Of, RequiredOf<Of>>]?: ValueOf<Of[Name]> | undefined }

/** What callers send to create or change something, as every face takes it. */
export interface Input<Of extends InputFields = InputFields> {
  /** Its name in `openapi.json`; in GraphQL that of an object within another one. */
  readonly name: string
  readonly description: string
  readonly fields: Of
  /** The schema of the body. */
  readonly schema: TObject & { readonly $id?: string }
  /** A body of REST by core's names. */
  read(body: unknown): GivenOf<Of>
  /** Finds with the mistakes of the schema those that core's rules see in what is sound. */
  judgedBy(
    check: (caller: Principal, given: Partial<GivenOf<Of>>) => unknown,
  ): (request: FastifyRequest, sound: SoundRequest) => void
}

/** What an operation with a form is asked, on every face. */
export interface Asked<Of extends InputFields> {
  readonly caller: Principal
  /** Empty if the operation names nothing that it changes. */
  readonly id: string
  readonly given: GivenOf<Of>
  readonly onLimit: OnLimit
}

interface InputTexts {
  /** An example of the body; an object within another one has none. */
  readonly example?: object
  /** What is wrong with fields that a caller may expect here. */
  readonly otherFields?: Readonly<Record<string, string>>
}

export function defineInput<const Of extends InputFields>(
  name: string,
  description: string,
  fields: Of,
  { example, otherFields }: InputTexts = {},
): Input<Of> {
  const parts = Object.entries(fields).map(([field, spec]) => ({ field, column: snake(field), spec }))
  const properties = parts.map(({ column, spec }) => [column, schemaOf(spec)])
  const read = (body: unknown) => {
    const sent = isObject(body) ? body : {}
    const known = parts.filter(({ column }) => Object.hasOwn(sent, column))
    const each = known.map(({ field, column, spec: { form } }) => {
      const value = sent[column]
      return [field, form !== undefined && isObject(value) ? form.read(value) : value]
    })
    return Object.fromEntries(each) as GivenOf<Of>
  }
  return {
    name,
    description,
    fields,
    schema: bodySchema(Object.fromEntries(properties) as TProperties, {
      ...(example !== undefined && { $id: name, description, examples: [example] }),
      ...(otherFields !== undefined && { otherFields }),
    }),
    read,
    judgedBy: (check) => (request, sound) => {
      check(callerOf(request), read(sound.body) as Partial<GivenOf<Of>>)
    },
  }
}

function schemaOf(field: InputField): TSchema {
  const { kind, vocabulary, isNullable, isRequired, byDefault } = field
  const isWord = kind === 'words' && vocabulary !== undefined
  const description = isWord ? meaningsOf(vocabulary, field.description) : field.description
  const schema = isNullable ? schemas.nullable(ruled(field), description) : { ...ruled(field), description }
  const described = byDefault === undefined ? schema : { ...schema, default: byDefault }
  return isRequired ? described : Type.Optional(described)
}

function ruled({ rules, form, ...field }: InputField): TSchema {
  if (form !== undefined) return form.schema
  // Core parses what callers send, which may be a date alone.
  if (field.kind === 'time') return Type.String({ maxLength: 64 })
  const isWordList = field.kind === 'word list'
  return { ...plainSchema(field), ...rules, ...(isWordList && { minItems: 1, uniqueItems: true }) }
}
