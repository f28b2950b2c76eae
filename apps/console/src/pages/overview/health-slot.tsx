import { type ComponentType, useEffect, useState } from 'react'
import { texts } from '../../app/texts.ts'
import { loadPart } from '../../ui/load-part.ts'
import type { HealthCardProps } from './health/health-card.tsx'
import styles from './overview-page.module.css'

interface HealthSlotProps extends HealthCardProps {
  /** Whether the numbers of the page can be seen, which come first. */
  readonly isReady: boolean
}

/** Keeps the place of the card that says whether everything is well, so that what is below does not move when it is loaded. */
export function HealthSlot({ isReady, ...reports }: HealthSlotProps) {
  const [Card, setCard] = useState<ComponentType<HealthCardProps>>()
  useEffect(() => {
    if (!isReady) return
    const loading = Promise.all([loadPart(() => import('./health/health-card.tsx')), texts.loadPages()])
    loading.then(
      ([{ HealthCard }]) => setCard(() => HealthCard),
      // The gateway is away, which the rest of the page says.
      () => {},
    )
  }, [isReady])
  return <div className={styles.health}>{Card !== undefined && <Card {...reports} />}</div>
}
