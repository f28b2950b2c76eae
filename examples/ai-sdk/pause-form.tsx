import type { Pause, PauseAnswer, PauseField } from '@trunkline/sdk'
import { type FormEvent, useId } from 'react'

interface PauseFormProps {
  readonly pause: Pause
  /** @param title what to show as the message of the visitor */
  readonly onAnswer: (answer: PauseAnswer, title: string) => void
}

/** The question of an agent as a form: its fields, a button for each option, and one that gives the question up. */
export function PauseForm({ pause, onAnswer }: PauseFormProps) {
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const { submitter } = event.nativeEvent as SubmitEvent
    const option = pause.options.find(({ id }) => id === submitter?.getAttribute('value'))
    const data = new FormData(event.currentTarget)
    const values = pause.fields.flatMap((field) => {
      const value = entered(field, data)
      return value === undefined ? [] : [[field.name, value] as const]
    })
    const fields = Object.fromEntries(values)
    const answer = {
      pause: pause.id,
      ...(option && { option: option.id }),
      ...(values.length > 0 && { fields }),
    }
    onAnswer(answer, option?.title ?? Object.values(fields).join(', '))
  }
  // An agent that offers nothing waits for a text, which the visitor writes as any other message.
  const takesForm = pause.options.length + pause.fields.length > 0
  return (
    <form aria-label="Question" onSubmit={send}>
      {pause.fields.map((field) => (
        <Field key={field.name} field={field} />
      ))}
      {pause.options.map(({ id, title }) => (
        <button key={id} type="submit" value={id}>
          {title}
        </button>
      ))}
      {takesForm && pause.options.length === 0 && <button type="submit">Answer</button>}
      <button type="button" onClick={() => onAnswer({ pause: pause.id, cancel: true }, 'Never mind')}>
        Never mind
      </button>
    </form>
  )
}

function Field({ field }: { field: PauseField }) {
  const { name, label = name, required } = field
  const id = useId()
  const common = { id, name, required }
  return (
    <p>
      <label htmlFor={id}>{label}</label>{' '}
      {field.type === 'select' ? (
        <select {...common} defaultValue={field.default}>
          {field.options.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      ) : field.type === 'paragraph' ? (
        <textarea {...common} defaultValue={field.default} />
      ) : field.type === 'file-list' ? (
        <textarea {...common} defaultValue={field.default?.join('\n')} placeholder="One https:// a line" />
      ) : field.type === 'checkbox' ? (
        <input id={id} name={name} type="checkbox" defaultChecked={field.default} />
      ) : (
        <input {...common} defaultValue={field.default} type={INPUT_TYPES[field.type]} />
      )}
    </p>
  )
}

const INPUT_TYPES = { text: 'text', number: 'number', file: 'url' }

/** The value as the gateway takes it; undefined for a field that was left empty. */
function entered({ name, type }: PauseField, data: FormData): unknown {
  const text = String(data.get(name) ?? '')
  if (type === 'checkbox') return data.has(name)
  if (text.trim() === '') return undefined
  if (type === 'number') return Number(text)
  return type === 'file-list' ? text.split(/\s+/).filter(Boolean) : text
}
