import type { ObjectRef } from '@pothos/core'
import type { OnLimit } from '#core/limits/limits.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { Services } from '#core/services/services.ts'
import { showLimit } from '#http/response/limit-headers.ts'
import { defineInput, type GivenOf, type Input, type InputFields } from '#resources/define-input.ts'
import { builder } from '../builder.ts'
import { callerOf } from '../context.ts'
import type { Types } from './field-source.ts'
import { givenIn, inputType } from './input-type.ts'

interface Id {
  readonly id: string
}

interface Mutation<Of extends InputFields> {
  readonly name: string
  readonly description: string
  /** What the input has. */
  readonly takes: string
  /** The form, without the id of what it changes. */
  readonly input?: Input<Of>
  /** Whether it names no record, because it creates one or changes the caller's own. */
  readonly isWithoutId?: true
  /** What the object of the payload is. */
  readonly returns: string
  call(services: Services, asked: Asked<Of>): Promise<Id>
}

interface Asked<Of extends InputFields> {
  readonly caller: Principal
  /** Empty if the mutation names no record. */
  readonly id: string
  readonly given: GivenOf<Of>
  readonly onLimit: OnLimit
}

const NOTHING = defineInput('Nothing', '', {})

/**
 * Makes the function that adds mutations of which each returns the object that it has changed.
 *
 * @param field - the name of the object in their payloads
 * @param id - the name of its id in their inputs, and what that is
 */
export function recordMutations(
  type: ObjectRef<Types, Id>,
  field: string,
  id: readonly [name: string, description: string],
) {
  return function add<const Of extends InputFields = Record<never, never>>(mutation: Mutation<Of>): void {
    const { name, description, takes, input, isWithoutId, returns, call } = mutation
    const typeName = `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`
    const form = (input ?? NOTHING) as Input<Of>
    const sent = inputType(`${typeName}Input`, takes, form.fields, isWithoutId ? undefined : id)
    const payload = builder.objectRef<Id>(`${typeName}Payload`).implement({
      description: `What \`${name}\` has done.`,
      fields: (t) => ({ [field]: t.field({ type, description: returns, resolve: (row) => row }) }),
    })
    builder.mutationField(name, (t) =>
      t.field({
        type: payload,
        nullable: true,
        description,
        args: { input: t.arg({ type: sent, required: true, description: takes }) },
        resolve: (_root, { input: values }, context) =>
          call(context.services, {
            caller: callerOf(context),
            id: isWithoutId ? '' : String(values[id[0]]),
            given: givenIn(form, values),
            onLimit: showLimit(context.reply),
          }),
      }),
    )
  }
}
