import { Link } from '@tanstack/react-router'
import { type ChartData, type ChartSeries, recordsIn } from './chart-data.ts'
import styles from './time-chart.module.css'

/** The names of the series and their colours. A name leads to what is counted in its series. */
export function Legend({ data }: { readonly data: ChartData }) {
  return (
    <ul className={styles.legend}>
      {data.series.map((one) => (
        <li key={one.name}>
          <Swatch {...one} />
          {one.filter === undefined ? (
            <span>{one.name}</span>
          ) : (
            <Link {...recordsIn(data, undefined, one.filter)}>{one.name}</Link>
          )}
        </li>
      ))}
      {data.before?.series.map((one) => (
        <li key={one.name}>
          <Swatch {...one} />
          <span>{one.name}</span>
        </li>
      ))}
    </ul>
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
