import { TrunklineError } from '@trunkline/sdk'
import type { FieldValues, Path, UseFormReturn } from 'react-hook-form'

type Form<Values extends FieldValues> = Pick<UseFormReturn<Values>, 'setError' | 'getValues'>

/** Shows each mistake that the gateway has found at its field of the form, and moves the focus to the first. */
export function showMistakes<Values extends FieldValues>(error: unknown, form: Form<Values>): void {
  let hasFocus = false
  for (const { name, message } of mistakesOf(error, form.getValues())) {
    if (name === undefined) continue
    form.setError(name as Path<Values>, { message }, { shouldFocus: !hasFocus })
    hasFocus = true
  }
}

/** Whether {@link showMistakes} shows all that an error says, so that no notice is needed. */
export function isShownAtFields<Values extends FieldValues>(
  error: unknown,
  { getValues }: Pick<Form<Values>, 'getValues'>,
): boolean {
  const mistakes = mistakesOf(error, getValues())
  return mistakes.length > 0 && mistakes.every(({ name }) => name !== undefined)
}

/**
 * The mistakes with the names that their fields have in the form: those of the properties of the request, of which the
 * innermost counts, such as `chat_per_minute` of `body.limits.chat_per_minute`. An error with a reason of its own, such as a
 * name that is taken, has a text in the user's language instead.
 */
function mistakesOf(error: unknown, values: FieldValues) {
  const isOfFields = error instanceof TrunklineError && error.reason === 'invalid_request'
  const fields = (isOfFields && error.fields) || []
  return fields.map(({ field, message }) => ({
    name: field.split(/[.[\]]/).findLast((part) => part in values),
    message,
  }))
}
