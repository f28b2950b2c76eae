import { describe, expect, it } from 'vitest'
import { fromWallTime, isReportable, startOfDay, startOfMonth, toWallTime } from './zone.ts'

const NOW = new Date('2026-11-22T15:30:00Z')

describe('isReportable', () => {
  it.each(['UTC', 'Asia/Shanghai', 'America/New_York'])('holds for zones of whole hours: %s', (zone) => {
    expect(isReportable(zone, NOW)).toBe(true)
  })

  it.each(['Asia/Kolkata', 'Asia/Kathmandu', 'Nowhere/City'])('does not hold for %s', (zone) => {
    expect(isReportable(zone, NOW)).toBe(false)
  })

  it('looks at the summer time too', () => {
    // Whole hours in November, half an hour more in July.
    expect(isReportable('Australia/Lord_Howe', NOW)).toBe(false)
  })
})

describe('startOfDay', () => {
  it('is midnight of the zone', () => {
    expect(startOfDay(NOW, 'Asia/Shanghai')).toEqual(new Date('2026-11-21T16:00:00Z'))
    expect(startOfDay(NOW, 'UTC', -6)).toEqual(new Date('2026-11-16T00:00:00Z'))
  })

  it('steps over the change to winter time by days, not by 24 hours', () => {
    const monday = new Date('2026-11-02T12:00:00Z')
    expect(startOfDay(monday, 'America/New_York')).toEqual(new Date('2026-11-02T05:00:00Z'))
    expect(startOfDay(monday, 'America/New_York', -1)).toEqual(new Date('2026-11-01T04:00:00Z'))
  })

  it('is the moment of the change where the clocks skip midnight', () => {
    expect(startOfDay(new Date('2026-03-08T20:00:00Z'), 'America/Havana')).toEqual(
      new Date('2026-03-08T05:00:00Z'),
    )
  })
})

describe('startOfMonth', () => {
  it('is midnight of the first day, also across the new year', () => {
    expect(startOfMonth(NOW, 'Asia/Shanghai')).toEqual(new Date('2026-10-31T16:00:00Z'))
    expect(startOfMonth(NOW, 'UTC', -11)).toEqual(new Date('2025-12-01T00:00:00Z'))
  })
})

describe('wall time', () => {
  it('is what the clocks of the zone show, and leads back', () => {
    expect(toWallTime(NOW, 'Asia/Shanghai')).toBe('2026-11-22T23:30')
    expect(fromWallTime('2026-11-22T23:30', 'Asia/Shanghai')).toEqual(NOW)
  })

  it('is undefined for what is not a time', () => {
    expect(fromWallTime('', 'UTC')).toBeUndefined()
  })
})
