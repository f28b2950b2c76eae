import {
  bodyOf,
  eventsOf,
  type Transcript,
} from '@trunkline/gateway/src/core/agents/transcripts.test-support.ts'
import type { UpstreamPart } from '@trunkline/gateway/src/core/agents/upstream/upstream-reply.ts'
import fc from 'fast-check'

/** Replaces every text of a platform that must not reach clients, so that a test can find it if it does. */
const PLANTED = 'Incorrect key sk-planted-5d1f0c at https://planted.internal:8443/v1'

/** Recorded replies with changes that no platform makes today, as parts of an upstream reply. */
export function mutated(transcripts: readonly Transcript[]): fc.Arbitrary<readonly UpstreamPart[]> {
  return fc
    .tuple(fc.constantFrom(...transcripts), fc.array(change, { minLength: 1, maxLength: 4 }), fc.nat(9))
    .map(([transcript, changes, batch]) => {
      const { http_status: status, bytes } = transcript
      if (status >= 400 || /^\s*[{<]/.test(bytes.toString())) return [bodyPart(transcript, changes)]
      const frames = changes.reduce(changed, eventsOf([bytes])).map(planted)
      return [...batches(frames, batch + 1), { kind: 'end' as const }]
    })
}

type Frame = ReturnType<typeof eventsOf>[number]
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never

const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', '\u0000', '\ud800', '[DONE]'))
const anyJson = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  anyText,
  fc.constantFrom<unknown>(null, [], [null], {}, -1, 1e308, { toString: 1, valueOf: 1 }),
)
const change = fc.record({
  kind: fc.constantFrom('value', 'value', 'value', 'drop', 'repeat', 'swap', 'cut', 'insert'),
  position: fc.nat(),
  path: fc.nat(),
  value: anyJson,
  text: anyText,
})

/** Applies one change to the list of frames or to one of its frames. */
function changed(
  frames: readonly Frame[],
  { kind, position: at, path, value, text }: Change,
): readonly Frame[] {
  const index = at % Math.max(1, frames.length)
  const frame = frames[index]
  if (frame === undefined) return frames
  const { event, data } = frame
  const place = path % (data.length + 1)
  switch (kind) {
    case 'value':
      return frames.with(index, { event, data: withValue(data, path, value) })
    case 'drop':
      return frames.toSpliced(index, 1)
    case 'repeat':
      return frames.toSpliced(index, 0, frame)
    case 'swap':
      return frames.with(index, frames[0] ?? frame).with(0, frame)
    case 'cut':
      return frames.with(index, { event, data: data.slice(0, place) })
    default:
      return frames.with(index, { event, data: data.slice(0, place) + text + data.slice(place) })
  }
}

function bodyPart(transcript: Transcript, changes: readonly Change[]): UpstreamPart {
  const frame: Frame = { event: undefined, data: JSON.stringify(bodyOf(transcript)) }
  const [last = frame] = changes.reduce<readonly Frame[]>(changed, [frame])
  const { http_status: status } = transcript
  return { kind: 'body', status, body: parsed(planted(last).data), header: () => undefined }
}

function* batches(frames: readonly Frame[], size: number): Generator<UpstreamPart> {
  for (let start = 0; start < frames.length; start += size) {
    yield { kind: 'events', events: frames.slice(start, start + size) }
  }
}

/** Names of private texts: error messages, and the query as it reached a node. */
const PRIVATE_TEXT = /^(?:message|msg|error|errorText|error_message|error_msg|Message|query)$/
/** Names of objects whose whole content is private: errors, prompts, quotes and inputs of nodes. */
const PRIVATE_DATA = /^(?:error|last_error|historyPreview|quoteList|inputs|process_data)$/

function planted({ event, data }: Frame): Frame {
  const json = parsed(data)
  return { event, data: typeof json === 'object' ? JSON.stringify(plantedIn(json, false)) : data }
}

function plantedIn(json: unknown, isPrivate: boolean): unknown {
  if (typeof json === 'string') return isPrivate ? PLANTED : json
  if (Array.isArray(json)) return json.map((item) => plantedIn(item, isPrivate))
  if (typeof json !== 'object' || json === null) return json
  return Object.fromEntries(
    Object.entries(json).map(([key, value]) => {
      const names = typeof value === 'string' ? PRIVATE_TEXT : PRIVATE_DATA
      // The inputs of a node are an object. A list of them is the form of a question, which its users fill in.
      const isForm = key === 'inputs' && Array.isArray(value)
      return [key, plantedIn(value, isPrivate || (names.test(key) && !isForm))]
    }),
  )
}

/** Replaces one value in a JSON text. The digits of `path`, in the base of each level's size, select the value. */
function withValue(text: string, path: number, value: unknown): string {
  const json = parsed(text)
  return typeof json === 'object' ? JSON.stringify(valueIn(json, path, value)) : text
}

function valueIn(json: unknown, path: number, value: unknown): unknown {
  const keys = typeof json === 'object' && json !== null ? Object.keys(json) : []
  const key = keys[path % keys.length]
  if (key === undefined || path === 0) return value
  const inner = valueIn(Reflect.get(Object(json), key), Math.floor(path / keys.length), value)
  return Array.isArray(json) ? json.with(Number(key), inner) : { ...Object(json), [key]: inner }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
