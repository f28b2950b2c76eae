import { Link } from '@tanstack/react-router'
import { useFormats } from '../format/use-formats.ts'
import type { RecordsLink } from './chart-data.ts'

interface WayProps {
  /** Undefined where no list has just what was counted. */
  readonly link: RecordsLink | undefined
  readonly children: string
}

/** A text that leads to what was counted. */
export function Way({ link, children }: WayProps) {
  return link === undefined ? children : <Link {...link}>{children}</Link>
}

/** A number that leads to what was counted; a zero leads nowhere. */
export function Count({ value, link }: Pick<WayProps, 'link'> & { readonly value: number }) {
  const formats = useFormats()
  return <Way link={value === 0 ? undefined : link}>{formats.count(value)}</Way>
}
