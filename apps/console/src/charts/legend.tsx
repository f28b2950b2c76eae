import { Link } from '@tanstack/react-router'
import {
  bucketsBefore,
  type ChartData,
  type ChartSeries,
  linkOfSeries,
  type RecordsLink,
} from './chart-data.ts'
import styles from './time-chart.module.css'

/** The names of the series and their colours. A name leads to what is counted in its series. */
export function Legend({ data }: { readonly data: ChartData }) {
  return (
    <ul className={styles.legend}>
      {data.series.map((one) => (
        <Entry key={one.name} series={one} link={linkOfSeries(data, one)} />
      ))}
      {data.before?.series.map((one) => (
        <Entry key={one.name} series={one} link={linkOfSeries(bucketsBefore(data), one)} />
      ))}
    </ul>
  )
}

interface EntryProps {
  readonly series: ChartSeries
  readonly link: RecordsLink | undefined
}

function Entry({ series, link }: EntryProps) {
  return (
    <li>
      <Swatch {...series} />
      {link === undefined ? <span>{series.name}</span> : <Link {...link}>{series.name}</Link>}
    </li>
  )
}

export function Swatch({ colour, isDashed }: Pick<ChartSeries, 'colour' | 'isDashed'>) {
  return (
    <svg className={styles.swatch} viewBox="0 0 12 12" aria-hidden="true">
      {isDashed === true ? (
        <path d="M0 6h4.5M7.5 6H12" stroke={`var(${colour})`} strokeWidth="3" />
      ) : (
        <rect width="12" height="12" rx="3" fill={`var(${colour})`} />
      )}
    </svg>
  )
}
