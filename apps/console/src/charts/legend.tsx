import { bucketsBefore, type ChartData, type ChartSeries, linkOfSeries } from './chart-data.ts'
import { Way } from './count.tsx'
import styles from './time-chart.module.css'

/** The names of the series and their colours. A name leads to what is counted in its series. */
export function Legend({ data }: { readonly data: ChartData }) {
  const entries = [
    ...data.series.map((one) => [one, linkOfSeries(data, one)] as const),
    ...(data.before?.series ?? []).map((one) => [one, linkOfSeries(bucketsBefore(data), one)] as const),
  ]
  return (
    <ul className={styles.legend}>
      {entries.map(([one, link]) => (
        <li key={one.name}>
          <Swatch {...one} />
          <span>
            <Way link={link}>{one.name}</Way>
          </span>
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
