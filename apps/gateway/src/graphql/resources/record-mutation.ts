import type { ObjectRef } from '@pothos/core'
import type { Services } from '#core/services/services.ts'
import { showLimit } from '#http/response/show-headers.ts'
import { type Asked, defineInput, type Input, type InputFields } from '#resources/define/define-input.ts'
import { builder } from '../builder.ts'
import { callerOf } from '../context.ts'
import type { Types } from './field-source.ts'
import { givenIn, inputType } from './input-type.ts'

interface Mutation<Row, Of extends InputFields> {
  readonly name: string
  readonly description: string
  /** What the input has. */
  readonly takes: string
  /** The form, without the id of what it changes. */
  readonly input?: Input<Of>
  call(services: Services, asked: Asked<Of>): Promise<Row>
}

/** The name of an id in inputs, and what it is. */
type NamedId = readonly [name: string, description: string]

const NOTHING = defineInput('Nothing', '', {})

/** A mutation that takes a form. */
export function formMutation<Row, const Of extends InputFields = Record<never, never>>(
  payload: ObjectRef<Types, Row>,
  { name, description, takes, input, call }: Mutation<Row, Of>,
  id?: NamedId,
): void {
  const form = (input ?? NOTHING) as Input<Of>
  const sent = inputType(`${capitalized(name)}Input`, takes, form.fields, id)
  builder.mutationField(name, (t) =>
    t.field({
      type: payload as ObjectRef<Types, object>,
      nullable: true,
      description,
      args: { input: t.arg({ type: sent, required: true, description: takes }) },
      resolve: (_root, { input: values }, context) =>
        call(context.services, {
          caller: callerOf(context),
          id: id === undefined ? '' : String(values[id[0]]),
          given: givenIn(form, values),
          onLimit: showLimit(context.reply),
        }) as Promise<object>,
    }),
  )
}

interface Id {
  readonly id: string
}

interface RecordMutation<Of extends InputFields> extends Mutation<Id, Of> {
  /** Whether it names no record, because it creates one or changes the caller's own. */
  readonly isWithoutId?: true
  /** What the object of the payload is. */
  readonly returns: string
}

/**
 * Makes the function that adds mutations of which each returns the object that it has changed.
 *
 * @param field - the name of the object in their payloads
 */
export function recordMutations(type: ObjectRef<Types, Id>, field: string, id: NamedId) {
  return <const Of extends InputFields = Record<never, never>>(mutation: RecordMutation<Of>): void => {
    const { name, returns, isWithoutId } = mutation
    const payload = builder.objectRef<Id>(`${capitalized(name)}Payload`).implement({
      description: `What \`${name}\` has done.`,
      fields: (t) => ({ [field]: t.field({ type, description: returns, resolve: (row) => row }) }),
    })
    formMutation(payload, mutation, isWithoutId ? undefined : id)
  }
}

function capitalized(name: string): string {
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`
}
