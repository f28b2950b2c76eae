import { useFormats } from './use-formats.ts'

interface MomentProps {
  readonly at: string
  /** By default the day as well, unless it is today. */
  readonly as?: 'time' | 'short' | 'date'
}

/** A time in few words. Under the pointer it is whole, with its zone. */
export function Moment({ at, as = 'short' }: MomentProps) {
  const formats = useFormats()
  return (
    <time dateTime={at} title={formats.moment(at)}>
      {formats[as](at)}
    </time>
  )
}
