import type { ComponentProps } from 'react'
import styles from './button.module.css'
import { classNames } from './class-names.ts'

interface ButtonProps extends ComponentProps<'button'> {
  /** `primary` once a page or dialog, `danger` for what cannot be undone, `quiet` inside of rows and bars. */
  readonly look?: 'primary' | 'plain' | 'quiet' | 'danger'
  /** Keeps its width and cannot be pressed again while what it started is running. */
  readonly isBusy?: boolean
}

export function Button({ look = 'plain', isBusy = false, className, disabled, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      className={buttonClass(look, className)}
      disabled={disabled === true || isBusy}
      aria-busy={isBusy || undefined}
      {...rest}
    />
  )
}

/** For links that look like buttons. */
export function buttonClass(look: NonNullable<ButtonProps['look']>, className?: string): string {
  return classNames(styles.button, styles[look], className)
}

interface IconButtonProps extends Omit<ButtonProps, 'aria-label'> {
  /** What it does, for people who do not see the icon; also its tooltip. */
  readonly label: string
}

export function IconButton({ label, look = 'quiet', className, ...rest }: IconButtonProps) {
  return (
    <Button
      look={look}
      className={classNames(styles.icon, className)}
      aria-label={label}
      title={label}
      {...rest}
    />
  )
}
