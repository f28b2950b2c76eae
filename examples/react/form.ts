import type { SubmitEvent } from 'react'

/** The text of a field of the form that is submitted, which is then not sent by the browser. */
export function fieldsOf(event: SubmitEvent<HTMLFormElement>): (name: string) => string {
  event.preventDefault()
  const form = new FormData(event.currentTarget)
  return (name) => String(form.get(name) ?? '')
}
