import { type ComponentProps, type ReactNode, useId } from 'react'
import { classNames } from '../class-names.ts'
import styles from './field.module.css'

interface FieldProps {
  readonly label: string
  /** A sentence on what the field is for. */
  readonly hint?: ReactNode
  /** What is wrong with the value. */
  readonly error?: string | undefined
  readonly className?: string | undefined
}

interface ControlIds {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': true | undefined
}

/** A label, a control, a hint and an error that belong together for the eye and for a screen reader. */
export function Field({
  label,
  hint,
  error,
  className,
  children,
}: FieldProps & { children(ids: ControlIds): ReactNode }) {
  const id = useId()
  const described = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`].filter(Boolean)
  return (
    <div className={classNames(styles.field, className)}>
      <label className={styles.label} htmlFor={id}>
        {label}
      </label>
      {children({
        id,
        'aria-describedby': described.length > 0 ? described.join(' ') : undefined,
        'aria-invalid': error === undefined ? undefined : true,
      })}
      {hint !== undefined && (
        <p className={styles.hint} id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p className={styles.error} id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  )
}

export function TextField({ label, hint, error, className, ...input }: FieldProps & ComponentProps<'input'>) {
  return (
    <Field {...{ label, hint, error, className }}>
      {(ids) => <input className={styles.control} {...input} {...ids} />}
    </Field>
  )
}

export function TextArea({
  label,
  hint,
  error,
  className,
  ...area
}: FieldProps & ComponentProps<'textarea'>) {
  return (
    <Field {...{ label, hint, error, className }}>
      {(ids) => <textarea className={styles.control} {...area} {...ids} />}
    </Field>
  )
}

export function SelectField({
  label,
  hint,
  error,
  className,
  ...select
}: FieldProps & ComponentProps<'select'>) {
  return (
    <Field {...{ label, hint, error, className }}>
      {(ids) => <select className={classNames(styles.control, styles.select)} {...select} {...ids} />}
    </Field>
  )
}

/** A box to tick, with its label behind it. */
export function CheckField({ label, hint, ...input }: FieldProps & ComponentProps<'input'>) {
  const id = useId()
  return (
    <div className={styles.check}>
      <input
        type="checkbox"
        id={id}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        {...input}
      />
      <div>
        <label htmlFor={id}>{label}</label>
        {hint !== undefined && (
          <p className={styles.hint} id={`${id}-hint`}>
            {hint}
          </p>
        )}
      </div>
    </div>
  )
}

/** One of several answers, with its label behind it. */
export function RadioField({ label, ...input }: Pick<FieldProps, 'label'> & ComponentProps<'input'>) {
  return (
    <label className={styles.check}>
      <input type="radio" {...input} />
      {label}
    </label>
  )
}

/** Fields that answer one question together, such as the permissions of a key. */
export function FieldGroup({
  label,
  error,
  children,
}: {
  readonly label: string
  readonly error?: string | undefined
  readonly children: ReactNode
}) {
  const id = useId()
  return (
    <fieldset className={styles.field} aria-describedby={error === undefined ? undefined : id}>
      <legend className={styles.label}>{label}</legend>
      {children}
      {error !== undefined && (
        <p className={styles.error} id={id}>
          {error}
        </p>
      )}
    </fieldset>
  )
}
