import { describe, expect, test, vi } from 'vitest'
import type { ChatEvent } from './events.ts'
import { PLATFORMS } from './registry.ts'
import {
  adapterOf,
  agentOf,
  callOf,
  read,
  type Transcript,
  transcriptsOf,
} from './transcripts.test-support.ts'
import { type EarlyRefusal, EarlyRefusals } from './translate/early-refusals.ts'

describe.each(PLATFORMS.names)('%s', (platform) => {
  const eventsOf = (transcript: Transcript) =>
    read(adapterOf(platform), callOf(agentOf(platform)), transcript)
  const transcripts = transcriptsOf(platform).filter(({ outcome }) => outcome !== 'aux')
  const refused = transcripts.filter(({ turn }) => turn === 'none')
  const others = [...transcripts.filter(({ turn }) => turn === undefined), ...transcriptsOf('generic')]

  test.each(refused)('$name begins with a failure that says that no turn was stored', (transcript) => {
    const [first, ...rest] = eventsOf(transcript)
    expect(first).toMatchObject({ type: 'error', failure: { turn: 'none' } })
    expect(rest).toEqual([])
  })

  test.each(others)('$name yields nothing that says so', (transcript) => {
    expect(turnsIn(eventsOf(transcript))).toEqual([])
  })

  test.each(refused)('$name says nothing of the kind after a reply has begun', (transcript) => {
    const streams = transcripts.filter(
      ({ outcome, content_type }) => outcome === 'ok' && content_type.includes('event-stream'),
    )
    expect(streams).not.toEqual([])
    for (const stream of streams) {
      const bytes = Buffer.concat([stream.bytes, Buffer.from('\n\n'), asEvent(transcript)])
      expect(turnsIn(eventsOf({ ...stream, bytes }))).toEqual([])
    }
  })

  test('every refusal of which an adapter says so has a recorded reply', () => {
    const find = vi.spyOn(EarlyRefusals.prototype, 'find')
    for (const transcript of transcripts) eventsOf(transcript)
    const named = new Set<EarlyRefusal>(
      find.mock.contexts.flatMap((list) => (list instanceof EarlyRefusals ? list.all : [])),
    )
    const recorded = new Set(find.mock.results.map(({ value }) => value))
    expect(named.size).toBeGreaterThan(0)
    expect([...named].filter((refusal) => !recorded.has(refusal))).toEqual([])
    // A text of several would be recorded by one of them.
    expect([...named].filter(({ text }) => /[|?*]/.test(text?.source ?? ''))).toEqual([])
  })

  test.each([
    [500, '<html>502 Bad Gateway</html>'],
    [502, '<html>502 Bad Gateway</html>'],
    [503, '<html>503 Service Unavailable</html>'],
    [504, ''],
    [429, 'error code: 1015'],
    [401, '<html>401 Authorization Required</html>'],
    [500, {}],
    [503, {}],
  ])('%i with %j says nothing about the turn, since a proxy may have sent it', (status, body) => {
    expect(adapterOf(platform).toFailure(status, body, () => undefined)).not.toHaveProperty('turn')
  })
})

function turnsIn(events: readonly ChatEvent[]) {
  return events.flatMap((event) => (event.type === 'error' ? (event.failure.turn ?? []) : []))
}

/** The refusal as the platform would send it within a stream: as it is, or as the data of an event. */
function asEvent({ bytes }: Transcript): Buffer {
  const text = bytes.toString().trim()
  if (!text.startsWith('{')) return bytes
  return Buffer.from(`event: error\ndata: ${JSON.stringify({ event: 'error', ...JSON.parse(text) })}\n\n`)
}
