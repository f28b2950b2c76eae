import type { FastifyRequest } from 'fastify'
import Type, { type TObject, type TProperties, type TSchema } from 'typebox'
import { isObject } from '#core/base/values/json.ts'
import type { Principal } from '#core/requests/principal.ts'
import { callerOf } from '#http/guards/credentials.ts'
import { bodySchema } from '#http/request/body-schema.ts'
import type { SoundRequest } from '#http/request/validation.ts'
import * as schemas from '#http/response/schemas.ts'
import { snake } from './resource.ts'
import { meaningsOf, type Vocabulary } from './vocabulary.ts'

/** The rules of a field that a schema can say. */
type Rules = {
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly maxItems?: number
}

/** A field of what callers send. Core's rules, which know more than a schema, are called by the services. */
export interface InputField<Value = unknown> {
  readonly kind: 'id' | 'text' | 'time' | 'words' | 'word list' | 'texts' | 'integer' | 'large' | 'object'
  readonly description: string
  readonly rules: Rules
  readonly isRequired: boolean
  /**
   * Whether null says something; else GraphQL takes it as absent, and REST refuses it. GraphQL may leave out what is required and
   * may be null, which is null.
   */
  readonly isNullable: boolean
  readonly vocabulary?: Vocabulary
  /** What an absent field stands for. */
  readonly byDefault?: string
  readonly of?: Input
  /** For the compiler alone. */
  readonly value?: Value
}

export type InputFields = Readonly<Record<string, InputField>>

function given<Value>(
  kind: InputField['kind'],
  description: string,
  rules: Rules = {},
  more: Partial<InputField> = {},
): InputField<Value> {
  const defaults = { isRequired: false, isNullable: false }
  return { kind, description, rules, ...defaults, ...(more as Partial<InputField<Value>>) }
}

export function required<Value>(field: InputField<Value>) {
  return { ...field, isRequired: true } as const
}
/** Null resets what the field sets. */
export function orNull<Value>(field: InputField<Value>): InputField<Value | null> {
  return { ...(field as InputField<Value | null>), isNullable: true }
}
/** @param word - one of the vocabulary, which an absent field stands for */
export function byDefault<Value extends string>(field: InputField<Value>, word: Value): InputField<Value> {
  return { ...field, byDefault: word }
}

export const givenId = (description: string) => given<string>('id', description)
export const givenText = (description: string, rules: Pick<Rules, 'minLength' | 'maxLength'>) =>
  given<string>('text', description, rules)
/** A time in ISO 8601, which core parses. */
export const givenTime = (description: string) => given<string>('time', description, { maxLength: 64 })
export const givenWord = <Word extends string>(vocabulary: Vocabulary<Word>, description: string) =>
  given<Word>('words', description, {}, { vocabulary: vocabulary as Vocabulary })
/** At least one word, and none twice. */
export const givenWords = <Word extends string>(vocabulary: Vocabulary<Word>, description: string) =>
  given<Word[]>('word list', description, {}, { vocabulary: vocabulary as Vocabulary })
export const givenTexts = (description: string, maxItems: number) =>
  given<string[]>('texts', description, { maxItems })
export const givenInteger = (description: string) => given<number>('integer', description)
/** A whole number that may need more than 32 bits. */
export const givenLarge = (description: string, rules: Pick<Rules, 'minimum' | 'maximum'>) =>
  given<number>('large', description, rules)
export const givenObject = <Of extends InputFields>(of: Input<Of>, description: string) =>
  given<GivenOf<Of>>('object', description, {}, { of })

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
    const each = known.map(({ field, column, spec: { of } }) => {
      const value = sent[column]
      return [field, of !== undefined && isObject(value) ? of.read(value) : value]
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
  const schema = isNullable ? schemas.nullable(plain(field), description) : { ...plain(field), description }
  const described = byDefault === undefined ? schema : { ...schema, default: byDefault }
  return isRequired ? described : Type.Optional(described)
}

function plain({ kind, rules, vocabulary, of }: InputField): TSchema {
  switch (kind) {
    case 'id':
      return schemas.Uuid
    case 'words':
      return schemas.oneOf(vocabulary?.words ?? [])
    case 'word list':
      return Type.Array(schemas.oneOf(vocabulary?.words ?? []), { minItems: 1, uniqueItems: true })
    case 'texts':
      return Type.Array(Type.String(), rules)
    case 'integer':
    case 'large':
      return Type.Integer(rules)
    case 'object':
      return of?.schema ?? Type.Null()
    default:
      return Type.String(rules)
  }
}
