import { Link } from '@tanstack/react-router'
import { useFormats } from '../format/use-formats.ts'
import type { RecordsLink } from './chart-data.ts'

interface CountProps {
  readonly value: number
  /** Undefined where no list has just what was counted. */
  readonly link: RecordsLink | undefined
}

/** A number that leads to what was counted; a zero leads nowhere. */
export function Count({ value, link }: CountProps) {
  const formats = useFormats()
  const text = formats.count(value)
  return value === 0 || link === undefined ? text : <Link {...link}>{text}</Link>
}
