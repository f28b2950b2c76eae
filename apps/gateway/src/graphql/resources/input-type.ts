import type { InputRef } from '@pothos/core'
import type { GivenOf, Input, InputField, InputFields } from '#resources/define/define-input.ts'
import { builder } from '../builder.ts'
import { vocabularyEnum } from '../enum-of.ts'

/**
 * The type of a form.
 *
 * @param ofWhat - the name and the description of the id of what the form changes
 */
export function inputType(
  name: string,
  description: string,
  fields: InputFields,
  ofWhat?: readonly [idName: string, description: string],
): InputRef<Readonly<Record<string, unknown>>> {
  const known = inputs.get(name)
  if (known !== undefined) return known
  const type = builder.inputType(name, {
    description,
    fields: (t) => ({
      ...(ofWhat !== undefined && { [ofWhat[0]]: t.id({ required: true, description: ofWhat[1] }) }),
      ...Object.fromEntries(
        Object.entries(fields).map(([field, spec]) => [
          field,
          t.field({
            type: typeOf(spec),
            required: spec.isRequired === true && !spec.isNullable,
            description: spec.description,
            ...(spec.byDefault !== undefined && { defaultValue: spec.byDefault }),
          }),
        ]),
      ),
    }),
  })
  const ref = type as unknown as InputRef<Readonly<Record<string, unknown>>>
  inputs.set(name, ref)
  return ref
}

/** An object may be part of several forms. */
const inputs = new Map<string, InputRef<Readonly<Record<string, unknown>>>>()

const SCALARS = {
  id: 'ID',
  user: 'ID',
  time: 'DateTime',
  integer: 'Int',
  large: 'SafeInt',
  flag: 'Boolean',
} as const

function typeOf({ kind, vocabulary, form }: InputField) {
  if (form !== undefined) return inputType(`${form.name}Input`, form.description, form.fields)
  if (vocabulary !== undefined) {
    const words = vocabularyEnum(vocabulary)
    return kind === 'word list' ? ([words] as [typeof words]) : words
  }
  const texts: ['String'] = ['String']
  return kind === 'texts' ? texts : (SCALARS[kind as keyof typeof SCALARS] ?? 'String')
}

/** A form by core's names. Null stands for an absent field where it says nothing. */
export function givenIn<Of extends InputFields>(
  { fields }: Input<Of>,
  sent: Readonly<Record<string, unknown>>,
): GivenOf<Of> {
  const each = Object.entries(fields).flatMap(([name, { isRequired, isNullable }]) => {
    const value = sent[name] ?? (isNullable && (isRequired || name in sent) ? null : undefined)
    return value === undefined ? [] : [[name, value]]
  })
  return Object.fromEntries(each) as GivenOf<Of>
}
